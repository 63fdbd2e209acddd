// node project.mjs <pi package> <session.jsonl> [--every N] : what pi computes for a session, as one JSON document.
// The session is copied first, because pi rewrites what it opens. The format is described in README.md.
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { loadPi } from "./pi.mjs";

const [folder, file, ...rest] = process.argv.slice(2);
if (!folder || !file) {
  console.error("usage: node project.mjs <pi package> <session.jsonl> [--every N]");
  process.exit(2);
}
const every = rest[0] === "--every" ? Number(rest[1]) : 1;
const scratch = mkdtempSync(join(tmpdir(), "oracle-"));
process.env.HOME = scratch;
process.env.PI_OFFLINE = "1";
const pi = await loadPi(folder);

/** Roles that pi sends inside a text of its own; their digest is that of what the session holds. */
const WRAPPED = new Set(["compactionSummary", "branchSummary", "bashExecution"]);

/** The canonical text of one message: as the model receives it, but without the words pi puts around a summary or a command. */
function canonical(message) {
  if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary;
  if (message.role === "bashExecution") return `${message.command}\n${message.output}`;
  if (message.role === "system") return pi.getSystemMessageText(message);
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "thinking") return `<thinking>${block.thinking}`;
      if (block.type === "toolCall") return `${block.name} ${JSON.stringify(block.arguments)}`;
      if (block.type === "image") return `[image ${block.mimeType} ${block.data.length}]`;
      return `[${block.type}]`;
    })
    .join("\n");
}

/** First 16 hex digits of the SHA-1 of the canonical text; null when the message is not sent to the model. */
function digest(message) {
  const [sent] = pi.convertToLlm([message]);
  if (sent === undefined) return null;
  const text = canonical(WRAPPED.has(message.role) ? message : sent);
  return createHash("sha1").update(text, "utf8").digest("hex").slice(0, 16);
}

/** The result of `compute`, or `failed` where pi itself throws on the data. */
function attempt(compute, failed = null) {
  try {
    return compute();
  } catch {
    return failed;
  }
}

function describe(path) {
  const header = JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0]);
  const copy = join(scratch, basename(path));
  copyFileSync(path, copy);
  const manager = pi.SessionManager.open(copy, scratch);
  const entries = manager.getEntries();
  const indexOf = new Map(entries.map((entry, index) => [entry, index]));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const indexOfId = (id) => (byId.has(id) ? indexOf.get(byId.get(id)) : null);

  const reasons = new Map();
  const pick = (entry, why) => {
    if (!entry || byId.get(entry.id) !== entry) return;
    const index = indexOf.get(entry);
    reasons.set(index, [...new Set([...(reasons.get(index) ?? []), why])]);
  };
  const children = new Map();
  for (const entry of entries) children.set(entry.parentId, [...(children.get(entry.parentId) ?? []), entry]);
  entries.forEach((entry, index) => {
    if (index % every === 0) pick(entry, "every");
    if (!children.has(entry.id)) pick(entry, "tip");
    if (["compaction", "branch_summary", "context_edit"].includes(entry.type)) {
      pick(entry, entry.type);
      pick(byId.get(entry.parentId), "neighbour");
      for (const child of children.get(entry.id) ?? []) pick(child, "neighbour");
    }
  });
  pick(byId.get(manager.getLeafId()), "leaf");
  const cyclic = entries.find((entry) => {
    const seen = new Set();
    for (let at = entry; at; at = byId.get(at.parentId)) {
      if (seen.has(at.id)) return true;
      seen.add(at.id);
    }
    return false;
  });
  if (cyclic) throw new Error(`parent cycle at entry ${indexOf.get(cyclic)}: pi would not return`);

  const rows = [];
  const rowOf = new Map();
  const rowKeys = new WeakMap();
  const rowFor = (index, message) => {
    let row = rowKeys.get(message);
    if (!row) {
      row = [index, message.role, attempt(() => pi.estimateTokens(message)), attempt(() => digest(message))];
      rowKeys.set(message, row);
    }
    const key = JSON.stringify(row);
    if (!rowOf.has(key)) {
      rowOf.set(key, rows.length);
      rows.push(row);
    }
    return key;
  };

  const planAt = (branch, keepRecentTokens) => {
    const plan = pi.prepareCompaction(branch, { enabled: true, reserveTokens: 16384, keepRecentTokens });
    if (!plan) return null;
    const read = [...plan.fileOps.read];
    const modified = [...new Set([...plan.fileOps.written, ...plan.fileOps.edited])];
    return {
      keep: keepRecentTokens,
      first_kept: plan.firstKeptEntryId ? indexOfId(plan.firstKeptEntryId) : null,
      split_turn: plan.isSplitTurn,
      summarize: plan.messagesToSummarize.length,
      turn_prefix: plan.turnPrefixMessages.length,
      tokens_before: plan.tokensBefore,
      previous_summary: plan.previousSummary !== undefined,
      read: read.filter((name) => !modified.includes(name)).length,
      modified: modified.length,
    };
  };

  const nodes = [...reasons.keys()].sort((a, b) => a - b).map((at) => {
    const id = entries[at].id;
    const projection = pi.buildSessionProjection(entries, id);
    const branch = manager.getBranch(id);
    const estimate = attempt(() => pi.estimateProjectedContextTokens(projection, branch));
    return {
      at,
      why: reasons.get(at),
      thinking: projection.thinkingLevel,
      model: projection.model && [projection.model.provider, projection.model.modelId],
      keys: projection.entries.flatMap(({ sourceEntry, messages }) =>
        messages.map((message) => rowFor(indexOf.get(sourceEntry), message)),
      ),
      tokens: estimate && {
        total: estimate.tokens,
        from_usage: estimate.usageTokens,
        trailing: estimate.trailingTokens,
        usage_message: estimate.lastUsageIndex,
      },
      plans: [20000, 2000].map((keep) => attempt(() => planAt(branch, keep), "error")),
    };
  });

  const order = rows.map((_, index) => index).sort((a, b) => rows[a][0] - rows[b][0] || a - b);
  const place = new Map(order.map((old, index) => [JSON.stringify(rows[old]), index]));
  for (const node of nodes) {
    node.messages = [];
    for (const key of node.keys) {
      const row = place.get(key);
      const last = node.messages.at(-1);
      if (last && last[0] + last[1] === row) last[1] += 1;
      else node.messages.push([row, 1]);
    }
    delete node.keys;
  }
  return {
    pi: pi.VERSION,
    version: header.version ?? 1,
    name: manager.getSessionName() ?? null,
    leaf: manager.getLeafId() === null ? null : indexOfId(manager.getLeafId()),
    entry_count: entries.length,
    // With a duplicate id pi's getTree can loop for ever: one node then stands under several parents.
    roots: byId.size === entries.length ? manager.getTree().map((node) => indexOf.get(node.entry)) : null,
    labels: Object.fromEntries(
      entries.flatMap((entry, index) =>
        manager.getLabel(entry.id) !== undefined && byId.get(entry.id) === entry ? [[index, manager.getLabel(entry.id)]] : [],
      ),
    ),
    rows: order.map((index) => rows[index]),
    nodes,
  };
}

try {
  const result = describe(file);
  const lines = (list) => `[\n${list.map((item) => JSON.stringify(item)).join(",\n")}\n]`;
  const { rows, nodes, ...head } = result;
  process.stdout.write(`${JSON.stringify(head).slice(0, -1)},\n"rows":${lines(rows)},\n"nodes":${lines(nodes)}}\n`);
} catch (error) {
  console.error(String(error?.message ?? error));
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
