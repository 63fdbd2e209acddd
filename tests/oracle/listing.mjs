// node listing.mjs <pi package> <folder> : pi's own session list for a folder, newest first, as one JSON document.
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPi } from "./pi.mjs";

const [folder, sessions] = process.argv.slice(2);
if (!folder || !sessions) {
  console.error("usage: node listing.mjs <pi package> <folder>");
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), "oracle-"));
process.env.HOME = scratch;
process.env.PI_OFFLINE = "1";
try {
  const pi = await loadPi(folder);
  for (const name of readdirSync(sessions).filter((name) => name.endsWith(".jsonl"))) {
    const copy = join(scratch, name);
    copyFileSync(join(sessions, name), copy);
    const { atime, mtime } = statSync(join(sessions, name));
    utimesSync(copy, atime, mtime);
  }
  const listed = await pi.SessionManager.listAll(scratch);
  const rows = listed.map(({ allMessagesText, path, ...info }) => ({
    path: path.slice(scratch.length + 1),
    ...info,
    name: info.name ?? null,
    parentSessionPath: info.parentSessionPath ?? null,
    text_length: allMessagesText.length,
  }));
  process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
