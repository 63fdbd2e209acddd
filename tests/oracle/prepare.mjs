// node prepare.mjs <pi package> KEEP <session.jsonl> : what pi's own next compaction at the leaf starts from, as JSON on stdout.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { loadPi } from "./pi.mjs";

const [folder, keep, file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node prepare.mjs <pi package> KEEP <session.jsonl>");
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), "oracle-"));
process.env.HOME = scratch;
process.env.PI_OFFLINE = "1";
const pi = await loadPi(folder);
const copy = join(scratch, basename(file));
copyFileSync(file, copy);
const manager = pi.SessionManager.open(copy, scratch);
const branch = manager.getBranch();
const plan = pi.prepareCompaction(branch, { enabled: true, reserveTokens: 16384, keepRecentTokens: Number(keep) });
const size = pi.estimateProjectedContextTokens(manager.buildSessionProjection(), branch);
const answer = { tokens: size.tokens, plan: null };
if (plan) {
  const { read, written, edited } = plan.fileOps;
  const modified = new Set([...written, ...edited]);
  answer.plan = {
    first_kept: plan.firstKeptEntryId,
    tokens_before: plan.tokensBefore,
    previous_summary: plan.previousSummary ?? null,
    read: [...read].filter((name) => !modified.has(name)).sort(),
    modified: [...modified].sort(),
  };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);
rmSync(scratch, { recursive: true, force: true });
