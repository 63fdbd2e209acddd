"""A folder in which agents and a person work, and in which it is known who wrote each line."""

from __future__ import annotations

import os
import random
from itertools import count
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward.catalogue.lookup import sighted
from leafward.query.blame import Blame, blame
from leafward.query.blame_sources import concerned
from tests.colleagues import ClaudeColleague, CodexColleague, OpencodeColleague
from tests.opencode_store import Database
from tests.pi_file import NO_PARENT_GIVEN
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from tests.colleagues import Colleague

NAME = "src/app.py"


class Office:
    """A folder, the sessions of agents in it, and who put which line there: session and call, None for the person."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.clock = count(1_795_300_000_000, 1000)
        self.lines = count(1)
        self.turns = count(1)
        self.turn = ""
        self.truth: dict[str, tuple[str, str] | None] = {}
        self.agents: list[Colleague] = []
        self.base: Database | None = None

    @property
    def folder(self) -> Path:
        return self.root / "work"

    def hire(self) -> Workbench:
        """A new session of an agent."""
        agent = Workbench(self.root / f"s{len(self.agents)}.jsonl", self.folder, len(self.agents))
        write = agent.file.entry

        def timed(type_: str, parent: str | None = NO_PARENT_GIVEN, **fields: Any) -> str:
            if type_ == "message":
                fields["message"] = {**fields["message"], "timestamp": next(self.clock)}
            return write(type_, parent, **fields)

        agent.file.entry = timed  # type: ignore[method-assign]
        agent.number = 1000 * len(self.agents)
        self.agents.append(agent)
        return agent

    def hire_from(self, kind: str) -> Colleague:
        """A new session of the agent of that name."""
        if kind == "pi":
            return self.hire()
        given = (self.root, self.folder, len(self.agents), self.clock)
        agent: Colleague
        if kind == "opencode":
            self.base = self.base or Database(self.root / "opencode")
            agent = OpencodeColleague(self.base, *given[1:])
        else:
            agent = (ClaudeColleague if kind == "claude" else CodexColleague)(*given)
        self.agents.append(agent)
        return agent

    def new(self, number: int) -> list[str]:
        """Lines that nobody wrote before, with brackets and empty ones between them."""
        made = []
        for _ in range(number):
            made.append(f"line {next(self.lines)} of the office")
            if self.random.random() < 0.3:
                made.append(self.random.choice(("}", "", "    )")))
        return made

    def text(self) -> str:
        file = self.folder / NAME
        return file.read_text() if file.exists() else ""

    def note(self, agent: Colleague | None, before: str) -> None:
        """Whoever acted last wrote the lines that were not there."""
        there = set(before.splitlines())
        for line in self.text().splitlines():
            if line not in there:
                self.truth[line] = (agent.name, self.turn) if agent is not None else None

    def work(self, agent: Colleague) -> None:
        """An agent does something to the file."""
        self.turn = f"turn {next(self.turns)}"
        agent.user(self.turn)
        before, pick = self.text(), self.random.random()
        lines = before.splitlines()
        if pick < 0.15 or not lines:
            again: list[str] = []
            if self.random.random() < 0.7:
                # What it writes again it has to know.
                agent.read(NAME)
                again = lines[:5]
            agent.write(NAME, "\n".join([*again, *self.new(6)]) + "\n")
        elif pick < 0.7:
            at = self.random.randrange(len(lines))
            old = lines[at : at + self.random.randint(1, 3)]
            kept = old if self.random.random() < 0.5 else []
            agent.edit(NAME, "\n".join(old), "\n".join([*kept, *self.new(2)]))
        elif pick < 0.8:
            agent.run(f"echo '{self.new(1)[0]}' >> {NAME}")
        elif pick < 0.9:
            agent.read(NAME)
        else:
            agent.run(f"mv {NAME} src/b2.py && mv src/b2.py {NAME}")
        self.note(agent, before)

    def by_hand(self) -> None:
        """The person edits it."""
        before = self.text()
        lines = before.splitlines()
        at = self.random.randint(0, len(lines))
        lines[at : at + self.random.randint(0, 2)] = self.new(2)
        (self.folder / NAME).write_text("\n".join(lines) + "\n")
        self.note(None, before)

    def work_days(self, steps: int) -> None:
        """Agents by turns, and the person between them."""
        for _ in range(steps):
            if self.text() and self.random.random() < 0.12:
                self.by_hand()
            else:
                self.work(self.random.choice(self.agents))

    def blamed(self) -> Blame:
        for agent in self.agents:
            agent.close()
        cards = list(sighted(Config(), [self.root], os.environ, []))
        path = str(self.folder / NAME)
        return blame(path, concerned(cards, path))
