"""Who wrote each line, held against what the real agents wrote in a repository that a person edits and commits to between them.

All agents that the environment names work by turns in one folder, in sessions that they go on in, fork and hand parts of the
work to sub-agents from. `LEAFWARD_TURNS` says how many turns a test has, `LEAFWARD_SEEDS` how many tests of that kind there are.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.catalogue.lookup import sighted
from leafward.cli.main import main
from leafward.files.line_origins import BY_HAND
from leafward.query.blame import blame
from leafward.query.blame_sources import concerned
from leafward.session.entries import EntryIndex, Kind
from tests.oracle.crew import AGENTS, Claude, Crew, Deed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.oracle.crew import Agent

TURNS = int(os.environ.get("LEAFWARD_TURNS", "16"))
SEEDS = int(os.environ.get("LEAFWARD_SEEDS", "2"))
NAMED = [kind for kind, there in AGENTS.items() if there]
FILES = ("src/app.py", "notes.md")
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")

pytestmark = pytest.mark.skipif(not NAMED, reason="the environment names no agent")


class Estate:
    """A repository, and which prompt put which line there; None for the person."""

    def __init__(self, root: Path, crew: Crew, seed: int) -> None:
        self.root, self.crew = root, crew
        self.folder = root / "estate"
        self.random = random.Random(seed)
        self.numbers = count(1)
        self.truth: dict[str, str | None] = {}
        self.sessions: dict[str, list[str]] = {kind: [] for kind in NAMED}
        self.shown = ""
        """The file that the last deed of this prompt read."""
        self.homes: dict[str, tuple[Agent, str]] = {}
        """By prompt: who worked on it, in which session."""
        for name in FILES:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text("\n".join(self.new(4)) + "\n")
        self.note(None, {})
        self.git("init", "-q", "-b", "main")
        self.commit()
        self.commit()

    def git(self, *words: str) -> None:
        subprocess.run(
            ["git", *WHO, *words], cwd=self.folder, env=GIT, check=True, capture_output=True, text=True
        )

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", f"work {next(self.numbers)}")

    def new(self, number: int) -> list[str]:
        """Lines that nobody wrote before, with brackets and empty ones between them."""
        made = []
        for _ in range(number):
            made.append(f"line {next(self.numbers)} of the orchard")
            if self.random.random() < 0.3:
                made.append(self.random.choice(("}", "", "    )")))
        return made

    def texts(self) -> dict[str, str]:
        return {name: (self.folder / name).read_text() for name in FILES if (self.folder / name).exists()}

    def note(self, prompt: str | None, before: dict[str, str]) -> None:
        """Whoever acted last wrote the lines that stood nowhere."""
        there = {line for text in before.values() for line in text.splitlines()}
        for text in self.texts().values():
            for line in text.splitlines():
                if line not in there:
                    self.truth[line] = prompt

    def deed(self) -> Deed:
        """Next step of an agent, chosen by the files that are there now. It reads a file right before it writes it again."""
        name, known = self.random.choice(FILES), self.shown
        self.shown = ""
        text, pick = self.texts().get(name, ""), self.random.random()
        lines = text.splitlines()
        line = self.new(1)[0]
        if pick < 0.25 or not lines:
            self.shown = name
            return "read", {"path": name}
        if pick < 0.4:
            again = lines[: self.random.randint(0, 5)] if known == name else []
            return "write", {"path": name, "text": "\n".join([*again, *self.new(5)]) + "\n"}
        if pick < 0.75:
            at = self.random.randrange(len(lines))
            old = lines[at : at + self.random.randint(1, 3)]
            kept = old if self.random.random() < 0.5 else []
            return "edit", {"path": name, "old": "\n".join(old), "new": "\n".join([*kept, *self.new(2)])}
        return "run", {
            "command": self.random.choice(
                (
                    f"echo '{line}' >> {name}",
                    f"cat >> {name} <<'EOF'\n{line}\n}}\nEOF",
                    f"printf '%s\\n' '{line}' | tee -a {name}",
                    f"sed -i '1s/.*/{line}/' {name}",
                    f"cat {name}",
                    f"python3 -c \"open('{name}','a').write('{line}\\n')\"",
                    f"mv {name} moved && mv moved {name}",
                )
            )
        }

    def turn(self) -> None:
        """An agent works on a prompt, in a session of its own or in a fork, or hands the work on."""
        agent = self.crew.hire(self.random.choice(NAMED))
        held = self.sessions[agent.kind]
        session = self.random.choice(held) if held and self.random.random() < 0.7 else ""
        forks = bool(session) and agent.kind != "codex" and self.random.random() < 0.2
        prompt = f"Tend row {next(self.numbers)} of the orchard."
        last = self.random.randint(1, 3)
        before, self.shown = self.texts(), ""
        if agent.kind in ("claude", "opencode") and self.random.random() < 0.25:
            part = f"Tend corner {next(self.numbers)} of the orchard."
            given = {"prompt": part, "task": lambda number: self.deed() if number < last else None}
            made = agent.ask(
                self.folder,
                prompt,
                lambda number: ("delegate", given) if number == 0 else None,
                session,
                forks=forks,
            )
            self.note(part, before)
        else:
            made = agent.ask(
                self.folder,
                prompt,
                lambda number: self.deed() if number < last else None,
                session,
                forks=forks,
            )
            self.note(prompt, before)
            self.homes[prompt] = agent, made
        if made not in held:
            held.append(made)

    def by_hand(self) -> None:
        """The person edits, commits, squashes, rebases or moves."""
        pick = self.random.random()
        if pick < 0.4:
            before = self.texts()
            name = self.random.choice(sorted(before))
            lines = before[name].splitlines()
            at = self.random.randint(0, len(lines))
            lines[at : at + self.random.randint(0, 2)] = self.new(2)
            (self.folder / name).write_text("\n".join(lines) + "\n")
            self.note(None, before)
        elif pick < 0.6:
            self.commit()
        elif pick < 0.8:
            self.commit()
            self.commit()
            self.git("reset", "-q", "--soft", "HEAD~2")
            self.git("commit", "-q", "--allow-empty", "-m", "squashed")
        else:
            self.commit()
            other = f"other{next(self.numbers)}"
            self.git("checkout", "-q", "-b", other, "HEAD~1")
            (self.folder / f"{other}.txt").write_text("upstream\n")
            self.commit()
            self.git("rebase", "-q", other, "main")

    def checked(self) -> tuple[int, int, int]:
        """Holds every claim against who wrote the line: lines claimed, lines of agents, and lines of the person claimed as such."""
        cards = list(sighted(Config(), [agent.root for agent in self.crew.agents.values()], os.environ, []))
        claimed = written = hands = 0
        for name in self.texts():
            path = str(self.folder / name)
            found = blame(path, concerned(cards, path))
            assert not found.unread
            for line in found.lines:
                if not line.text.startswith("line "):
                    continue
                truth = self.truth[line.text]
                written += truth is not None
                hands += line.author == BY_HAND
                if line.author == BY_HAND:
                    assert truth is None, line
                if line.author < 0:
                    continue
                claimed += 1
                author = found.authors[line.author]
                assert truth is not None, (line, author.request)
                assert truth in author.request, (line, author.request, truth)
                if truth in self.homes:
                    agent, session = self.homes[truth]
                    assert author.card.agent == agent.kind
                    assert author.card.path == str(agent.file(session)), (line, truth)
        return claimed, written, hands


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_who_is_named_wrote_the_line(tmp_path: Path, seed: int) -> None:
    with Crew(tmp_path) as crew:
        estate = Estate(tmp_path, crew, seed)
        for _ in range(TURNS):
            if estate.random.random() < 0.4:
                estate.by_hand()
            estate.turn()
        claimed, written, hands = estate.checked()
    people = sum(truth is None for truth in estate.truth.values())
    print(
        f"seed {seed}: {claimed} of {written} lines of agents claimed, {hands} by hand of {people} that people wrote"
    )
    assert claimed > written // 2


@pytest.mark.parametrize("kind", ["claude", "pi"])
def test_a_branch_that_was_left_and_wrote_the_same_line_is_named(tmp_path: Path, kind: str) -> None:
    if not AGENTS[kind]:
        pytest.skip(f"the environment names no {kind}")
    folder = tmp_path / "estate"
    folder.mkdir()
    name = "app.py"

    def writing(text: str) -> Callable[[int], Deed | None]:
        return lambda number: ("write", {"path": name, "text": text}) if number == 0 else None

    with Crew(tmp_path) as crew:
        agent = crew.hire(kind)
        session = agent.ask(folder, "Begin.", lambda _: None)
        agent.ask(folder, "The first try.", writing("one line of the try\n"), session)
        (folder / name).unlink()
        with closing(agent_named(kind).open(agent.file(session))) as opened:
            replies = [one for one in range(len(opened)) if opened.columns.kind[one] == Kind.ASSISTANT]
            first = opened.columns.id(EntryIndex(replies[0]))
        second = writing("one line of the try\nanother line of the try\n")
        if isinstance(agent, Claude):
            rows = map(json.loads, agent.file(session).read_text().splitlines())
            row = next(row for row in rows if row["type"] == "assistant")
            agent.ask(folder, "The second try.", second, session, back=row["uuid"])
        else:
            assert main(["move", str(agent.file(session)), first]) == 0
            agent.ask(folder, "The second try.", second, session)
        cards = list(sighted(Config(), [agent.root], os.environ, []))
    path = str(folder / name)
    found = blame(path, concerned(cards, path))
    one, other = found.lines
    assert found.authors[other.author].request == "The second try."
    named = [found.authors[place] for place in (one.author, *one.also)]
    assert {author.request for author in named} == {"The first try.", "The second try."}
    assert [author.abandoned for author in named] == [author.request == "The first try." for author in named]
