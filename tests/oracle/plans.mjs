// node plans.mjs <pi package> KEEP,KEEP… EVERY <session.jsonl>… : pi's own compaction plans at many settings, as JSON on stdout.
// For every N-th entry of each session, and its leaf, one row a setting; the format is described in README.md.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { loadPi } from "./pi.mjs";

const [folder, keeps, every, ...files] = process.argv.slice(2);
if (!files.length) {
  console.error("usage: node plans.mjs <pi package> KEEP,KEEP... EVERY <session.jsonl>...");
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), "oracle-"));
process.env.HOME = scratch;
process.env.PI_OFFLINE = "1";
const pi = await loadPi(folder);

function row(branch, at, keepRecentTokens, indexOfId) {
  const settings = { enabled: true, reserveTokens: 16384, keepRecentTokens };
  const plan = pi.prepareCompaction(branch, settings);
  if (!plan) return [at, keepRecentTokens, null];
  const { read, written, edited } = plan.fileOps;
  const modified = new Set([...written, ...edited]);
  return [
    at,
    keepRecentTokens,
    indexOfId(plan.firstKeptEntryId),
    plan.isSplitTurn ? 1 : 0,
    plan.messagesToSummarize.length,
    plan.turnPrefixMessages.length,
    plan.tokensBefore,
    plan.previousSummary === undefined ? 0 : 1,
    [...read].filter((name) => !modified.has(name)).length,
    modified.size,
  ];
}

const found = {};
for (const file of files) {
  const copy = join(scratch, basename(file));
  copyFileSync(file, copy);
  const manager = pi.SessionManager.open(copy, scratch);
  const entries = manager.getEntries();
  const indexOf = new Map(entries.map((entry, index) => [entry.id, index]));
  const rows = [];
  entries.forEach((entry, index) => {
    if (index % Number(every) && index !== entries.length - 1) return;
    const branch = manager.getBranch(entry.id);
    for (const keep of keeps.split(",").map(Number)) rows.push(row(branch, index, keep, (id) => indexOf.get(id)));
  });
  found[basename(file, ".jsonl")] = rows;
}
const body = Object.entries(found).map(([name, rows]) => `${JSON.stringify(name)}:[\n${rows.map((one) => JSON.stringify(one)).join(",\n")}\n]`);
process.stdout.write(`{\n${body.join(",\n")}\n}\n`);
rmSync(scratch, { recursive: true, force: true });
