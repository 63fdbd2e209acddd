"""An extension of pi (0.37 to 1.6) that runs before a compaction, before a branch is abandoned with a summary, and where a session is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.base import expanded
from leafward.agents.hooks.hook_file import HookFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SCRIPT = """const KIND = "leafward-context";
const holds = (one) => one.customType === KIND || (typeof one.summary === "string" && one.summary.search(OURS) >= 0);

// A summary that Leafward makes, where it was installed for that; without one pi makes its own.
const summaryOf = async (ctx, wanted, to, focus) => {
  const file = ctx.sessionManager.getSessionFile();
  if (!summaries || !file) return undefined;
  try {
    return JSON.parse(await awaited(textOf(file, ctx.sessionManager.getLeafId(), { wanted, to, focus })));
  } catch {
    return undefined;
  }
};

export default function (pi) {
  let waiting = null;
  let unsent = null;
  const begin = (ctx) => {
    const file = ctx.sessionManager.getSessionFile();
    // The entry is named because the compaction may be written before Leafward reads the file.
    waiting = file ? textOf(file, ctx.sessionManager.getLeafId()) : null;
  };
  const end = async () => {
    const text = waiting ? contextIn(await awaited(waiting)) : "";
    waiting = null;
    if (!text) return;
    const told = { customType: KIND, content: text, display: true };
    // While pi works the message is stored at the end of the turn: until then `context` adds it. Steered, it would begin a turn
    // that nobody asked for, where pi compacts at the end of its work.
    unsent = { role: "custom", ...told, timestamp: Date.now() };
    pi.sendMessage(told, { triggerTurn: false });
  };
  pi.on("session_start", (_event, ctx) => {
    unsent = null;
    const file = ctx.sessionManager.getSessionFile();
    // A session that is taken up again is read beside pi, before its first compaction. A new one has no entry yet.
    if (file && ctx.sessionManager.getLeafId()) textOf(file, undefined, { wanted: "resumed" });
  });
  pi.on("session_before_compact", async (event, ctx) => {
    begin(ctx);
    const { firstKeptEntryId, tokensBefore } = event.preparation;
    const made = await summaryOf(ctx, "summary", firstKeptEntryId, event.customInstructions);
    return made && { compaction: { ...made, firstKeptEntryId, tokensBefore } };
  });
  pi.on("session_compact", end);
  pi.on("session_compact_failed", () => { waiting = null; });
  pi.on("session_before_tree", async (event, ctx) => {
    waiting = null;
    if (!event.preparation.userWantsSummary) return undefined;
    begin(ctx);
    const { targetId, customInstructions } = event.preparation;
    const summary = await summaryOf(ctx, "branch", targetId, customInstructions);
    return summary && { summary };
  });
  pi.on("session_tree", async (event) => {
    unsent = null;
    if (event.summaryEntry) await end();
    else waiting = null;
  });
  // Of several texts in the context the newest one stays: messages with others go, and summaries lose them. A summary of
  // Leafward's holds one, and so does one of a model that copies what it was given.
  pi.on("context", (event) => {
    let every = event.messages;
    if (unsent && every.some((one) => one.customType === KIND && one.content === unsent.content)) unsent = null;
    if (unsent) every = [...every, unsent];
    const told = every.filter(holds);
    if (told.length < 2) return unsent ? { messages: every } : undefined;
    const newest = told.reduce((one, next) => (one.timestamp > next.timestamp ? one : next));
    const messages = every
      .filter((one) => one === newest || one.customType !== KIND)
      .map((one) => (one === newest || !told.includes(one) ? one : { ...one, summary: one.summary.replace(OURS, "") }));
    return { messages };
  });
}
"""


def _place(env: Mapping[str, str]) -> Path:
    home = expanded(env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent", env)
    return home / "extensions" / "leafward-context.js"


HOOKS = HookFile(
    "pi",
    _SCRIPT,
    _place,
    gives_summaries=True,
    cost="one run of Leafward while the summary is made; a short one where a session is opened",
)
