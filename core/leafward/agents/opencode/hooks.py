"""A plugin of opencode 1.18: it hears of a compaction before it happens, and of its summary when that is complete.

What a plugin adds to a compaction's prompt only the model that summarises reads. The text is therefore put behind the summary;
the prompt, and what other plugins add there, stay as they are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.base import expanded
from leafward.agents.hook_file import asked, installed_file, is_own_file, removed_file
from leafward.agents.opencode.places import usual_root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leafward.agents.hooks import Heard

_SCRIPT = """const OLD = /\\n*^<leafward-context>$[^]*?^<\\/leafward-context>$/gm;

export const LeafwardContext = async ({ client }) => {
  const waiting = new Map();
  return {
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
        const text = await made;
        if (text) output.text = output.text.replace(OLD, "") + "\\n\\n" + text;
      } catch {
        waiting.delete(input.sessionID);
      }
    },
  };
};
"""


class OpenCodeHooks:
    """A file of its own among opencode's plugins."""

    cost = "one run of Leafward while the summary is made"

    def file(self, env: Mapping[str, str]) -> Path:
        """In the folder whose plugins opencode loads for every project."""
        config = env.get("XDG_CONFIG_HOME") or "~/.config"
        return expanded(os.path.join(config, "opencode", "plugin", "leafward-context.js"), env)

    def installed(self, text: str | None, command: Sequence[str]) -> str:
        """The plugin."""
        return installed_file(text, _SCRIPT, command)

    def removed(self, text: str) -> str | None:
        """Nothing of it."""
        return removed_file(text)

    def is_in(self, text: str) -> bool:
        """Whether it is ours."""
        return is_own_file(text)

    def heard(self, told: Mapping[str, Any], env: Mapping[str, str]) -> Heard | None:
        """The session in the database that opencode itself uses."""
        given = env.get("OPENCODE_DB") or "opencode.db"
        return asked(told, os.path.join(usual_root(env), given) + os.sep)

    def answer(self, text: str) -> str:
        """As it is."""
        return text
