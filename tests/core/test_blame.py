"""Who wrote each line, against folders in which it is known: agents that really work there, and a person between them."""

from __future__ import annotations

import json
import os
import random
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.catalog.lookup import sighted
from leafward.files.line_origins import BY_HAND, UNKNOWN, UNSURE
from leafward.query.blame import Blame, blame
from leafward.query.blame_sources import concerned
from tests.colleagues import ClaudeColleague, CodexColleague, OpencodeColleague
from tests.forks import made, terms
from tests.opencode_store import Database
from tests.pi_file import NO_PARENT_GIVEN
from tests.surroundings import THOROUGH
from tests.workbench import Workbench

if TYPE_CHECKING:
    from tests.colleagues import Colleague

CREWS = {
    "claude": ("claude",) * 3,
    "codex": ("codex",) * 3,
    "opencode": ("opencode",) * 3,
    "all": ("pi", "claude", "codex", "opencode"),
}
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

    def blamed(self, program: str | None = None) -> Blame:
        for agent in self.agents:
            agent.close()
        cards = list(sighted(Config(), [self.root], os.environ, []))
        path = str(self.folder / NAME)
        return blame(path, concerned(cards, path), program=program)


@pytest.mark.parametrize("seed", range(40 if THOROUGH else 12))
def test_who_is_named_wrote_the_line(tmp_path: Path, seed: int) -> None:
    office = Office(tmp_path, seed)
    for _ in range(3):
        office.hire()
    office.work_days(40)
    claimed, written = checked(office)
    assert claimed > written // 4, "hardly a line was claimed"


@pytest.mark.parametrize("crew", CREWS)
@pytest.mark.parametrize("seed", range(20 if THOROUGH else 6))
def test_who_is_named_wrote_the_line_whatever_agents_work(tmp_path: Path, crew: str, seed: int) -> None:
    office = Office(tmp_path, seed)
    for kind in CREWS[crew]:
        office.hire_from(kind)
    office.work_days(40)
    claimed, written = checked(office)
    assert claimed > written // 4, "hardly a line was claimed"


@pytest.mark.parametrize("to", ["pi", "claude", "codex"])
@pytest.mark.parametrize("kind", ["pi", "claude", "codex", "opencode"])
def test_a_fork_into_any_form_takes_no_line_of_its_original(tmp_path: Path, kind: str, to: str) -> None:
    office = Office(tmp_path, 3)
    first, _ = office.hire_from(kind), office.hire_from("codex" if kind != "codex" else "claude")
    office.work_days(16)
    office.turn = "the last turn"
    first.user(office.turn)
    first.edit(NAME, office.text(), office.text() + "line 0 of the office\n")
    first.reply("Done.")
    office.truth["line 0 of the office"] = (first.name, office.turn)
    with closing(agent_named(kind).open(first.close())) as session:
        fork = made(session, session.leaf, to, terms(tmp_path))
    office.work_days(6)
    found = office.blamed()
    path = str(office.folder / NAME)
    cards = list(sighted(Config(), [tmp_path], os.environ, []))
    assert str(fork.draft.path) in {card.path for card in concerned(cards, path)}
    if kind == to:
        # What is converted keeps the names of the tools that made it; calls of foreign tools are not replayed.
        assert found.sessions == 3, "the fork's calls were read"
    assert fork.draft.path not in {Path(author.card.path) for author in found.authors}
    claimed, written = checked(office)
    assert claimed > written // 2, "hardly a line was claimed"


def checked(office: Office) -> tuple[int, int]:
    """Holds every claim against who really wrote the line; the lines claimed, and those that agents wrote."""
    found = office.blamed()
    assert not found.unread
    claimed = written = 0
    for line in found.lines:
        if not line.text.startswith("line "):
            continue
        truth = office.truth.get(line.text)
        written += truth is not None
        if line.author >= 0:
            claimed += 1
            author = found.authors[line.author]
            assert truth is not None, line
            assert (os.path.basename(author.card.path), author.request) == (*truth,)
        elif line.author == BY_HAND:
            assert truth is None, line
    return claimed, written


def test_a_line_keeps_its_turn_under_another_name(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    agent.file.user("begin")
    agent.write("old.py", "the first line here\nthe second line here\n")
    agent.file.user("move")
    agent.run(f"mv old.py {NAME}")
    agent.file.user("add")
    agent.edit(NAME, "the second line here", "the second line here\nthe third line here")
    found = office.blamed()
    assert [found.authors[line.author].request for line in found.lines] == ["begin", "begin", "add"]


def test_sessions_that_only_know_an_older_name_are_found(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    first, second = office.hire(), office.hire()
    first.file.user("begin")
    first.write("old.py", "the first line here\n")
    second.file.user("move")
    second.run(f"mv old.py {NAME}")
    found = office.blamed()
    assert [found.authors[line.author].request for line in found.lines] == ["begin"]
    assert found.sessions == 2


def test_what_an_agent_writes_again_after_reading_is_not_its_own(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    (office.folder / "src").mkdir(parents=True)
    (office.folder / NAME).write_text("the line of the person\n")
    agent = office.hire()
    (office.folder / NAME).write_text("the line of the person\n")
    agent.file.user("write it anew")
    agent.run(f"cat {NAME} && true")
    agent.read(NAME)
    agent.write(NAME, "the line of the person\nthe line of the agent\n")
    found = office.blamed()
    assert [line.author for line in found.lines] == [UNKNOWN, 0]


def test_a_branch_that_was_left_and_wrote_the_same_line_is_named(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    root = agent.file.user("begin")
    agent.file.user("the first try", root)
    agent.write(NAME, "one line of the try\n")
    agent.file.user("the second try", root)
    agent.write(NAME, "one line of the try\nanother line of the try\n")
    found = office.blamed()
    first, second = found.lines
    assert found.authors[second.author].request == "the second try"
    assert [found.authors[one].request for one in (first.author, *first.also)] == [
        "the second try",
        "the first try",
    ]


def test_a_line_that_a_branch_read_and_wrote_again_stays_with_the_branch_that_was_left(
    tmp_path: Path,
) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    root = agent.file.user("begin")
    agent.file.user("the first try", root)
    agent.write(NAME, "one line of the try\n")
    agent.file.user("the second try", root)
    agent.read(NAME)
    agent.write(NAME, "one line of the try\nanother line of the try\n")
    found = office.blamed()
    assert [found.authors[line.author].request for line in found.lines] == ["the first try", "the second try"]


def test_lines_of_brackets_are_no_ones_between_two_turns(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    agent.file.user("one")
    agent.write(NAME, "def one():\n    (\n    )\n")
    agent.file.user("two")
    agent.edit(NAME, "    )", "    )\ndef two():\n    (\n    )")
    found = office.blamed()
    one, two = found.lines[0], found.lines[3]
    assert [found.authors[line.author].request for line in (one, two)] == ["one", "two"]
    assert found.lines[2].author == UNSURE
    assert found.lines[2].is_bare
    assert "an empty line, or one of brackets" in found.lines[2].unclaimed


def test_a_copy_of_a_session_does_not_take_its_lines(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    agent.file.user("begin")
    agent.write(NAME, "the first line here\n")
    lines = agent.file.path.read_text().splitlines()
    header = {**json.loads(lines[0]), "id": "the-copy", "timestamp": "2027-01-01T00:00:00.000Z"}
    (tmp_path / "a-copy.jsonl").write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n")
    found = office.blamed()
    assert [os.path.basename(one.card.path) for one in found.authors] == ["s0.jsonl"]


def shown_first(tmp_path: Path) -> tuple[Office, Workbench]:
    """An agent to whom a command has shown a person's line."""
    office = Office(tmp_path, 1)
    agent = office.hire()
    (office.folder / "src").mkdir(exist_ok=True)
    (office.folder / NAME).write_text("the line of the person\n")
    agent.file.user("write it anew")
    agent.run(f"python3 -c \"print(open('{NAME}').read())\"")
    return office, agent


def test_lines_that_a_command_showed_are_not_those_of_who_writes_them_again(tmp_path: Path) -> None:
    office, agent = shown_first(tmp_path)
    agent.write(NAME, "the line of the person\nthe line of the agent\n")
    found = office.blamed()
    assert [line.author for line in found.lines] == [UNSURE, 0]


def test_an_empty_line_of_a_whole_write_is_no_doubt(tmp_path: Path) -> None:
    """Every text holds an empty line: beside lines that were shown before it is unsure as they are, else it is the turn's."""
    office, agent = shown_first(tmp_path)
    agent.write(NAME, "the line of the person\n\nthe line of the agent\n\nits other line\n}\n")
    found = office.blamed()
    assert [line.author for line in found.lines] == [UNSURE, UNSURE, 0, 0, 0, 0]


def test_very_many_empty_lines_of_a_whole_write_take_linear_time(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire()
    (office.folder / "src").mkdir(exist_ok=True)
    agent.file.user("write it")
    agent.write(NAME, "the line of the agent\n" + "\n" * 10_000)
    started = time.process_time()
    assert {line.author for line in office.blamed().lines} == {0}
    assert time.process_time() - started < 5


def test_a_write_whose_result_tells_what_was_there_claims_what_is_new(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agent = office.hire_from("claude")
    (office.folder / "src").mkdir(parents=True, exist_ok=True)
    (office.folder / NAME).write_text("the line of the person\n")
    agent.user("write it anew")
    # The newest versions write over a file that they did not read.
    agent.known[NAME] = office.text()  # type: ignore[attr-defined]
    agent.write(NAME, "the line of the person\nthe line of the agent\n")
    found = office.blamed()
    assert [line.author for line in found.lines] == [UNKNOWN, 0]


def test_a_fork_as_old_as_its_original_takes_no_line_of_it(tmp_path: Path) -> None:
    """As `claude --fork-session` makes one: the same rows with the same times, under an id that sorts before."""
    office = Office(tmp_path, 1)
    agent = office.hire_from("claude")
    agent.user("begin")
    agent.write(NAME, "the first line here\n")
    path = agent.close()
    fork = path.with_name("00000000-0000-4000-8000-000000000000.jsonl")
    rows = [json.loads(line.replace(path.stem, fork.stem)) for line in path.read_text().splitlines()]
    rows = [{**row, "requestSessionId": path.stem} for row in rows]
    fork.write_text("".join(json.dumps(row) + "\n" for row in rows))
    office.agents.clear()
    cards = list(sighted(Config(), [tmp_path], os.environ, []))
    assert len({card.created for card in cards}) == 1
    found = office.blamed()
    assert [author.card.path for author in found.authors] == [str(path)]


def test_what_came_between_two_reads_while_nothing_ran_is_by_hand(tmp_path: Path) -> None:
    office, agent = read_by_an_agent(tmp_path)
    (office.folder / NAME).write_text("a line that stands\na line of the person\n")
    agent.user("look again")
    agent.read(NAME)
    assert [line.author for line in office.blamed().lines] == [0, BY_HAND]


@pytest.mark.parametrize("kind", ["pi", "claude", "codex", "opencode"])
def test_what_came_while_an_unknown_program_ran_is_not_by_hand(tmp_path: Path, kind: str) -> None:
    office, agent = read_by_an_agent(tmp_path, kind)
    other = office.hire_from(kind)
    other.user("append a line")
    other.run(f"python3 -c \"open('{NAME}', 'a').write('a line of a program\\n')\"")
    agent.user("look again")
    agent.read(NAME)
    assert [line.author for line in office.blamed().lines] == [0, UNKNOWN]


def test_what_came_while_a_session_worked_that_never_names_the_file_is_not_by_hand(tmp_path: Path) -> None:
    office, agent = read_by_an_agent(tmp_path)
    other = office.hire()
    other.user("tidy up")
    (office.folder / "tidy.sh").write_text("echo 'a line of a script' >> src/app.py\n")
    other.run("sh tidy.sh")
    other.user("thanks")
    agent.user("look again")
    agent.read(NAME)
    assert [line.author for line in office.blamed().lines] == [0, UNKNOWN]


def test_two_sessions_whose_calls_have_the_same_ids_are_no_copies(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    agents = [office.hire(), office.hire()]
    for number, agent in enumerate(agents):
        agent.number = 10**12
        agent.user(f"begin {number}")
        if number == 0:
            agent.write(NAME, "a line that stands\n")
        else:
            agent.edit(NAME, "a line that stands", "a line that stands\na line that came later")
    agents[0].edit(NAME, "a line that came later", "a line that came later\na third line of all")
    assert [line.author for line in office.blamed().lines] == [0, 1, 0]


def read_by_an_agent(root: Path, kind: str = "pi") -> tuple[Office, Colleague]:
    """A file that an agent wrote and read."""
    office = Office(root, 1)
    agent = office.hire_from(kind)
    agent.user("begin")
    agent.write(NAME, "a line that stands\n")
    agent.read(NAME)
    return office, agent


def test_nothing_recorded_claims_nothing(tmp_path: Path) -> None:
    office = Office(tmp_path, 1)
    office.hire()
    (office.folder / "src").mkdir(exist_ok=True)
    (office.folder / NAME).write_text("a line of nobody known\n")
    found = office.blamed()
    assert [line.author for line in found.lines] == [UNKNOWN]
    assert not found.authors
    assert not found.sessions
