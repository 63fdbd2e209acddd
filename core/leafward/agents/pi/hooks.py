"""An extension of pi 1.5: it hears of a compaction, and of a branch that is left with a summary, before they happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.base import expanded
from leafward.agents.hook_file import asked, installed_file, is_own_file, removed_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leafward.agents.hooks import Heard

_SCRIPT = """const KIND = "leafward-context";

export default function (pi) {
  let waiting = null;
  const begin = (_event, ctx) => {
    const file = ctx.sessionManager.getSessionFile();
    // The entry is named because the compaction may be written before Leafward reads the file.
    waiting = file ? textOf(file, ctx.sessionManager.getLeafId()) : null;
  };
  const end = async () => {
    const text = waiting ? await waiting : "";
    waiting = null;
    if (text) pi.sendMessage({ customType: KIND, content: text, display: true });
  };
  pi.on("session_before_compact", begin);
  pi.on("session_compact", end);
  pi.on("session_compact_failed", () => { waiting = null; });
  pi.on("session_before_tree", (event, ctx) => {
    waiting = null;
    if (event.preparation.userWantsSummary) begin(event, ctx);
  });
  pi.on("session_tree", async (event) => {
    if (event.summaryEntry) await end();
    else waiting = null;
  });
  // The text of an earlier compaction that is still in the context gives way to the newest one.
  pi.on("context", (event) => {
    const last = event.messages.findLast((one) => one.role === "custom" && one.customType === KIND);
    if (!last) return undefined;
    const messages = event.messages.filter((one) => one === last || one.customType !== KIND);
    return messages.length === event.messages.length ? undefined : { messages };
  });
}
"""


class PiHooks:
    """A file of its own among pi's extensions."""

    cost = "one run of Leafward while the summary is made"

    def file(self, env: Mapping[str, str]) -> Path:
        """In the folder whose extensions pi loads for every project."""
        return (
            expanded(env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent", env)
            / "extensions"
            / "leafward-context.js"
        )

    def installed(self, text: str | None, command: Sequence[str]) -> str:
        """The extension."""
        return installed_file(text, _SCRIPT, command)

    def removed(self, text: str) -> str | None:
        """Nothing of it."""
        return removed_file(text)

    def is_in(self, text: str) -> bool:
        """Whether it is ours."""
        return is_own_file(text)

    def heard(self, told: Mapping[str, Any], env: Mapping[str, str]) -> Heard | None:  # noqa: ARG002  # of other agents
        """The file of the session."""
        return asked(told)

    def answer(self, text: str) -> str:
        """As it is."""
        return text
