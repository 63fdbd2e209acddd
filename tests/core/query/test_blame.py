"""Who wrote each line, against folders in which it is known: agents that really work there, and a person between them."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.catalogue.lookup import sighted
from leafward.files.line_origins import BY_HAND, UNKNOWN, UNSURE
from leafward.query.blame_sources import concerned
from tests.core.linear_time import in_linear_time
from tests.core.office import NAME, Office
from tests.forks import made, terms
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from tests.colleagues import Colleague
    from tests.workbench import Workbench

CREWS = {
    "claude": ("claude",) * 3,
    "codex": ("codex",) * 3,
    "opencode": ("opencode",) * 3,
    "all": ("pi", "claude", "codex", "opencode"),
}


@pytest.mark.parametrize("seed", range(40 if THOROUGH else 6))
def test_who_is_named_wrote_the_line(tmp_path: Path, seed: int) -> None:
    office = Office(tmp_path, seed)
    for _ in range(3):
        office.hire()
    office.work_days(40)
    claimed, written = checked(office)
    assert claimed > written // 4, "hardly a line was claimed"


@pytest.mark.parametrize("crew", CREWS)
@pytest.mark.parametrize("seed", range(20 if THOROUGH else 3))
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
    with in_linear_time(5):
        assert {line.author for line in office.blamed().lines} == {0}


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
