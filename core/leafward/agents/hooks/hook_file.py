"""A hook in a file of its own among an agent's extensions: the whole file is ours."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leafward.agents.hooks.hook import HookCommand, HookRequest, Moment, no_summaries
from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from leafward.agents.hooks.hook import Runner

MARK = "// Written by `leafward install`; `leafward uninstall` removes it."

_RUN = r"""import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const agent = __AGENT__;
const command = __COMMAND__;
const log = __LOG__;
const summaries = __SUMMARIES__;
// The text where it stands in a summary, as Leafward or a model that copies it put it there.
const OURS = /\n*^[ \t]*<leafward-context>[ \t]*$[^]*?^[ \t]*<\/leafward-context>[ \t]*$/gm;

// What `leafward doctor` says of a run that Leafward itself could not tell of.
const failed = (why) => {
  try {
    const time = new Date().toISOString().slice(0, 19).replace("T", " ");
    appendFileSync(log, JSON.stringify(`${time} ${agent}: ${why}`) + "\n", { mode: 0o600 });
  } catch {}
  return "";
};

// What Leafward prints for a session; nothing where it fails. A long session may take as long as the agent's own summary.
const textOf = (session, at, more) =>
  new Promise((done) => {
    try {
      const pieces = [];
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => { child.kill(); done(failed("no text after 60 s")); }, 60000);
      const end = (text) => { clearTimeout(timer); done(text); };
      child.on("error", (error) => end(failed(error.message)));
      child.on("close", (code, signal) => {
        if (code === 0) end(Buffer.concat(pieces).toString("utf8"));
        // A negative code is that of a start that failed: "error" came before it. So did our own timer.
        else if (code < 0 || child.killed) end("");
        else end(failed(`${command[0]} ${signal ? `was ended by ${signal}` : `ended with ${code}`}`));
      });
      child.stdout.on("data", (piece) => pieces.push(piece));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ session, at, ...more }));
    } catch (error) {
      done(failed(error.message));
    }
  });

// The same once the agent waits for it: nothing where it takes ten seconds more.
const awaited = (made) =>
  new Promise((done) => {
    const timer = setTimeout(() => done(failed("no text 10 s after the summary")), 10000);
    made.then((text) => { clearTimeout(timer); done(text); });
  });

// The text in what was printed: a Python may greet as it starts.
const contextIn = (printed) => {
  const [text] = printed.match(OURS) ?? [];
  return text ? text.trim() : printed && failed(`no text in what it printed: ${printed.slice(0, 100)}`);
};
"""


_COMMAND = re.compile(r"^const command = (\[.*\]);$", re.MULTILINE)
_SUMMARIES = "\nconst summaries = true;\n"
_WANTED = tuple(one.value for one in (Moment.NOW, Moment.RESUMED, Moment.SUMMARY, Moment.BRANCH))


@dataclass(frozen=True, slots=True)
class HookFile:
    """A script that runs Leafward with its request on stdin, and uses the printed text as it is."""

    agent: str
    script: str
    file: Callable[[Mapping[str, str]], Path]
    """The path of the script, in the folder whose scripts the agent loads for every project."""
    path: Callable[[Mapping[str, str], str], str] = lambda _env, session: session
    """The path of a session that the script names."""
    gives_summaries: bool = False
    """Whether the script can return Leafward's summaries, where its `summaries` is true."""
    room: int | None = None
    note: str = ""
    cost: str = "one run of Leafward while the summary is made"

    def installed(self, text: str | None, runner: Runner, summary: bool = False) -> str:
        """The whole file. Raises Refused where a file with that name is not ours, or where the script cannot return summaries."""
        if text is not None and not self.is_in(text):
            raise Refused(f"{self.file(os.environ)} is not a file that Leafward wrote; rename it first")
        if summary and not self.gives_summaries:
            raise no_summaries(self.agent)
        values = {
            "AGENT": self.agent,
            "COMMAND": list(runner.command),
            "LOG": str(runner.log),
            "SUMMARIES": summary,
        }
        run = _RUN
        for name, value in values.items():
            run = run.replace(f"__{name}__", json.dumps(value))
        return f"{MARK}\n{run}\n{self.script}"

    def removed(self, text: str) -> str | None:
        """None, since the whole file goes; a file that is not ours stays."""
        return None if self.is_in(text) else text

    def is_in(self, text: str) -> bool:
        """Whether the file is one of ours."""
        return text.startswith(MARK)

    def commands(self, text: str) -> list[HookCommand]:
        """The one command of the script, if it still stands there as it was written."""
        line = _COMMAND.search(text) if self.is_in(text) else None
        try:
            argv = json.loads(line[1]) if line is not None else []
        except ValueError:
            return []
        is_command = bool(argv) and all(isinstance(one, str) for one in argv)
        return [HookCommand(tuple(argv), answers=True)] if is_command else []

    def makes_summaries(self, text: str) -> bool:
        """Whether it was installed for summaries of Leafward's."""
        return _SUMMARIES in text

    def request_in(self, payload: Mapping[str, Any], env: Mapping[str, str]) -> HookRequest | None:
        """The request of our own script."""
        session = payload.get("session")
        if not isinstance(session, str) or not session:
            return None
        moment = payload.get("wanted", Moment.NOW.value)
        if moment not in _WANTED:
            return None
        at, to, focus = (payload.get(key) for key in ("at", "to", "focus"))
        return HookRequest(
            Moment(moment),
            self.path(env, session),
            at if isinstance(at, str) else None,
            to if isinstance(to, str) else None,
            focus if isinstance(focus, str) else "",
        )

    def answer(self, text: str) -> str:
        """The unchanged text."""
        return text
