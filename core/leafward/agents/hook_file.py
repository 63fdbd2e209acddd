"""A hook that is a file of its own among an agent's extensions: all of it is ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.agents.hooks import Heard, Moment
from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "// Written by `leafward install`; `leafward uninstall` removes it."

_COMMAND = "__COMMAND__"

_RUN = """import { spawn } from "node:child_process";

const command = __COMMAND__;

// What Leafward prints for a session; nothing where it fails or takes longer than ten seconds.
const textOf = (session, at) =>
  new Promise((done) => {
    try {
      const pieces = [];
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => { child.kill(); done(""); }, 10000);
      const end = (text) => { clearTimeout(timer); done(text); };
      child.on("error", () => end(""));
      child.on("close", (code) => end(code === 0 ? Buffer.concat(pieces).toString("utf8") : ""));
      child.stdout.on("data", (piece) => pieces.push(piece));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ session, at }));
    } catch {
      done("");
    }
  });
"""


def installed_file(text: str | None, script: str, command: Sequence[str]) -> str:
    """The whole file. Raises Refused where one of that name is there that is not ours."""
    if text is not None and not is_own_file(text):
        raise Refused("a file of that name is there that Leafward did not write; rename it first")
    return f"{MARK}\n{_RUN.replace(_COMMAND, json.dumps(list(command)))}\n{script}"


def removed_file(text: str) -> str | None:
    """None, for the file goes whole; one that is not ours stays."""
    return None if is_own_file(text) else text


def is_own_file(text: str) -> bool:
    """Whether a file is one of ours."""
    return text.startswith(MARK)


def asked(told: Mapping[str, Any], prefix: str = "") -> Heard | None:
    """What our own script asks for."""
    session = told.get("session")
    if not isinstance(session, str) or not session:
        return None
    at = told.get("at")
    return Heard(Moment.NOW, prefix + session, at if isinstance(at, str) else None)
