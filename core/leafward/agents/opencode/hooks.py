"""A plugin of opencode (1.0.185 to 1.18): it runs before a compaction, on the summary and on sent messages, and where a session is taken up again.

Only the summarising model reads a plugin's additions to a compaction's prompt. So the text is put behind the summary; the prompt,
and other plugins' additions to it, stay as they are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.hooks.hook_file import HookFile
from leafward.agents.opencode.storage.data_root import config_folder, usual_root

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SCRIPT = r"""export const LeafwardContext = async ({ client }) => {
  const waiting = new Map();
  const known = new Set();
  return {
    event: async ({ event }) => {
      if (event.type === "session.created") known.add(event.properties.info.id);
    },
    // A session that is taken up again is read beside opencode, before its first compaction. A new one has nothing to read.
    "chat.message": async ({ sessionID }) => {
      if (known.has(sessionID)) return;
      known.add(sessionID);
      textOf(sessionID, undefined, { wanted: "resumed" });
    },
    "experimental.session.compacting": async (input) => {
      waiting.set(input.sessionID, textOf(input.sessionID));
    },
    "experimental.text.complete": async (input, output) => {
      const made = waiting.get(input.sessionID);
      if (!made) return;
      try {
        const path = { id: input.sessionID, messageID: input.messageID };
        const { data } = await client.session.message({ path });
        waiting.delete(input.sessionID);
        if (!data?.info?.summary) return;
        const text = contextIn(await awaited(made));
        if (text) output.text = output.text.replace(OURS, "") + "\n\n" + text;
      } catch {
        waiting.delete(input.sessionID);
      }
    },
    // Where two servers compact a session at once, both summaries are sent: the newest text stays.
    "experimental.chat.messages.transform": async (_input, output) => {
      const parts = output.messages.flatMap((one) => (one.info.summary === true ? one.parts : []));
      const told = parts.filter((part) => typeof part.text === "string" && part.text.search(OURS) >= 0);
      for (const part of told.slice(0, -1)) part.text = part.text.replace(OURS, "");
    },
  };
};
"""


def _place(env: Mapping[str, str]) -> Path:
    return config_folder(env) / "plugin" / "leafward-context.js"


def _path(env: Mapping[str, str], session: str) -> str:
    """A name in the database that opencode itself uses; before 1.2, where there is none, the session's own file."""
    root = usual_root(env)
    database = os.path.join(root, env.get("OPENCODE_DB") or "opencode.db")
    if not os.path.exists(database):
        from leafward.agents.opencode.storage.trees import SUFFIX, folders_in

        files = (os.path.join(folder, session + SUFFIX) for folder in folders_in(str(root), []))
        if file := next(filter(os.path.isfile, files), ""):
            return file
    return os.path.join(database, session)


HOOKS = HookFile(
    "opencode",
    _SCRIPT,
    _place,
    path=_path,
    cost="one run of Leafward while the summary is made; a short one where a session is taken up again",
)
