"""`ls`, and sessions named by their ids."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, usage
from tests.claude_transcript import IDS, Transcript
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

KEYS = {
    "id",
    "agent",
    "path",
    "name",
    "title",
    "project",
    "created",
    "modified",
    "entries",
    "messages",
    "branches",
    "compactions",
    "parent",
    "relation",
    "archived",
}


@pytest.fixture
def store(isolated_environment: Path) -> Path:
    """Three sessions in pi's own folder: two of one project, one of them a fork of the other."""
    root = isolated_environment / ".pi" / "agent" / "sessions"
    for number, (project, prompt) in enumerate(
        (("orchard", "Which unit?"), ("orchard", "Which unit? 樹木"), ("pasture", "Count the sheep \x1b[31m"))
    ):
        folder = root / f"--home-ada-{project}--"
        folder.mkdir(parents=True, exist_ok=True)
        header = HEADER | {"id": f"01a1fff{number}-4aff-76cb", "cwd": f"/home/ada/{project}"}
        if number == 1:
            header["parentSession"] = str(root / "--home-ada-orchard--" / "0_01a1fff0-4aff-76cb.jsonl")
        file = PiFile(folder / f"{number}_{header['id']}.jsonl", header)
        file.user(prompt)
        file.reply("so")
        os.utime(file.path, (1_800_000_000 + number, 1_800_000_000 + number))
    return root


@pytest.mark.parametrize("verb", [("ls",), ("search", "sheep"), ("audit",)])
def test_sessions_are_named_by_id_where_a_path_is_taken(
    verb: tuple[str, ...], done: Run, run: Run, store: Path
) -> None:
    (path,) = (str(one) for one in store.rglob("2_*.jsonl"))
    by_id, by_path = (json.loads(done(*verb, name, "--json").out) for name in ("01a1fff2", path))
    assert by_id == by_path
    assert run(*verb, "zebra").err == "leafward: no file, folder or session 'zebra'\n"
    assert "several sessions start with '01a1fff'" in run(*verb, "01a1fff").err
    assert run(*verb, "no/where").err == "leafward: no file or folder 'no/where'\n"


def test_all_sessions(done: Run, store: Path) -> None:
    document = done("ls", "--json").document
    assert len(document["sessions"]) == 3
    for session in document["sessions"]:
        assert set(session) >= KEYS
    by_id = {session["id"][:8]: session for session in document["sessions"]}
    assert by_id["01a1fff1"]["relation"] == "fork"
    assert by_id["01a1fff1"]["parent"] == by_id["01a1fff0"]["path"]
    assert (by_id["01a1fff0"]["entries"], by_id["01a1fff0"]["messages"]) == (2, 2)
    assert document["diagnostics"] == []


def test_tokens_that_nobody_counted_are_called_estimated(done: Run, tmp_path: Path) -> None:
    for name, counted in (("guessed", None), ("counted", 4_100)):
        file = Acting(tmp_path / f"{name}.jsonl", {**HEADER, "id": name, "cwd": "/home/ada/orchard"})
        file.user("Count the pears")
        file.said("many", tokens=usage(counted) if counted is not None else None)
    sessions = done("ls", tmp_path, "--json").document["sessions"]
    assert {one["id"]: one["estimated"] for one in sessions} == {"guessed": True, "counted": False}


def test_again_from_the_index(done: Run, store: Path) -> None:
    assert done("ls", "--json").out == done("ls", "--json").out


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--project", "orchard"), {"01a1fff0", "01a1fff1"}),
        (("--project", "/home/ada/pasture"), {"01a1fff2"}),
        (("--query", "sheep"), {"01a1fff2"}),
        (("--query", "unit 樹木"), {"01a1fff1"}),
        (("--query", "nothing like it"), set()),
        (("--agent", "pi"), {"01a1fff0", "01a1fff1", "01a1fff2"}),
    ],
)
def test_filters(options: tuple[str, ...], ids: set[str], done: Run, store: Path) -> None:
    assert {session["id"][:8] for session in done("ls", *options, "--json").document["sessions"]} == ids


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("since:xx", "since: takes 12h, 7d, 3mo, today or a date, not xx (column 1)"),
        ("sheep agent:zz", "agent: takes pi, codex, claude or opencode, not zz (column 7)"),
        ("sheep tool:bash", "tool: works only in the search of all text (column 7)"),
    ],
)
def test_a_broken_condition_is_refused(query: str, said: str, run: Run, store: Path) -> None:
    outcome = run("ls", "--query", query, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_only_what_lies_there(done: Run, store: Path, tmp_path: Path) -> None:
    PiFile(tmp_path / "mine.jsonl").user("mine")
    assert [session["title"] for session in done("ls", tmp_path, "--json").document["sessions"]] == ["mine"]
    one = store / "--home-ada-pasture--" / "2_01a1fff2-4aff-76cb.jsonl"
    assert [session["path"] for session in done("ls", one, "--json").document["sessions"]] == [str(one)]


def test_each_id_that_is_listed_names_one_session(done: Run, run: Run, store: Path) -> None:
    twin = PiFile(
        store / "--home-ada-orchard--" / "3_01a1fff2-5bff.jsonl",
        HEADER | {"id": "01a1fff2-5bff-76cb", "cwd": "/home/ada/orchard"},
    )
    twin.user("another tree")
    assert run("tree", "01a1fff2").code == 1
    listed = {
        "ls of a project": done("ls", "--project", "pasture").out,
        "ls of a query": done("ls", "--query", "sheep").out,
        "ls of a folder": done("ls", store / "--home-ada-pasture--").out,
        "search in a folder": done("search", "sheep", store / "--home-ada-pasture--").out,
        "audit in a folder": done("audit", store / "--home-ada-pasture--").out,
    }
    for name, text in listed.items():
        (shown,) = {word for word in text.split() if word.startswith("01a1fff")} or {"01a1fff2-4"}
        assert done("tree", shown, "--json").document["session"]["id"] == "01a1fff2-4aff-76cb", name


def test_no_session_was_changed_before_it_was_made(done: Run, store: Path) -> None:
    fork = PiFile(
        store / "--home-ada-orchard--" / "4_01a1fff4.jsonl",
        HEADER
        | {
            "id": "01a1fff4-4aff-76cb",
            "parentSession": str(store / "--home-ada-orchard--" / "0_01a1fff0-4aff-76cb.jsonl"),
            "timestamp": "2031-01-01T00:00:00.000Z",
        },
    )
    fork.user("Which unit?")
    fork.reply("so")
    (newest, *_) = sessions = done("ls", "--json").document["sessions"]
    assert newest["id"] == "01a1fff4-4aff-76cb"
    assert newest["modified"] == newest["created"] == "2031-01-01T00:00:00.000Z"
    times = [one["modified"] for one in sessions]
    assert times == sorted(times, reverse=True), "listed in the order of the times that are told"


def test_for_a_person(done: Run, store: Path) -> None:
    out = done("ls").out
    head, *rows, last = out.splitlines()
    assert head.split() == ["id", "agent", "when", "project", "title", "msg", "br", "cmp"]
    assert len(rows) == 3
    assert last == "3 sessions"
    assert "Count the sheep ␛[31m" in out
    assert "fork of Which unit?" in out


def test_without_sessions_the_totals_are_zero(done: Run, tmp_path: Path) -> None:
    document = done("ls", "--json").document
    assert (document["sessions"], document["diagnostics"], document["excluded"]) == ([], [], 0)
    assert document["totals"] == {
        "sessions": 0,
        "tokens": 0,
        "cost": None,
        "without_cost": 0,
        "by_project": [],
        "by_agent": [],
        "by_project_and_agent": [],
        "by_day": [],
    }
    assert "leafward demo" in done("ls").out
    assert "no session found in" in done("ls", tmp_path).out


def test_a_cost_of_nothing_is_a_dot_in_the_totals(done: Run, store: Path) -> None:
    head, *rows, last, _ = done("ls", "--totals").out.splitlines()
    assert head.split()[-1] == "cost"
    assert {row.split()[-1] for row in rows} == {"·"}
    assert last.endswith("tokens   $0")


def test_no_such_folder_or_agent(run: Run, tmp_path: Path) -> None:
    assert run("ls", tmp_path / "missing").code == 1
    outcome = run("ls", "--agent", "py")
    assert (outcome.code, outcome.out) == (2, "")
    assert "'py'" in outcome.err


def test_a_configuration_that_is_broken_is_remarked_on(run: Run, isolated_environment: Path) -> None:
    folder = isolated_environment / "leafward" / "config"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("windw = 5\n")
    outcome = run("ls", "--json")
    assert outcome.code == 0
    (remark,) = outcome.document["diagnostics"]
    assert remark["code"] == "config"
    assert "windw" in remark["text"]


def test_of_many_faults_in_the_configuration_a_few_are_printed(
    run: Run, store: Path, isolated_environment: Path
) -> None:
    folder = isolated_environment / "leafward" / "config"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("".join(f"k{number} = 1\n" for number in range(30)))
    outcome = run("ls")
    assert outcome.code == 0
    assert outcome.err.count("\n") == 9
    assert "22 more problems" in outcome.err


class TestNames:
    def test_an_id_and_a_prefix(self, done: Run, store: Path) -> None:
        for name in ("01a1fff2-4aff-76cb", "01a1fff2"):
            assert done("tree", name, "--json").document["session"]["cwd"] == "/home/ada/pasture"

    def test_a_prefix_of_several(self, run: Run, store: Path) -> None:
        for arguments in (("tree", "01a1fff"), ("01a1fff",)):
            outcome = run(*arguments)
            assert outcome.code == 1
            assert "several sessions start with" in outcome.err
            assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "time", [1e300, 8.64e15, -1e17, 10**25, "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", [1], {}]
)
def test_a_time_beyond_the_calendar_ends_no_listing(done: Run, tmp_path: Path, time: object) -> None:
    for number, stamp in enumerate((time, 1_763_719_200_000)):
        file = PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}", "timestamp": stamp})
        file.entry(
            "message", None, timestamp=stamp, message={"role": "user", "content": "u", "timestamp": stamp}
        )
        cost = {"input": 5, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 1}}
        said = {"role": "assistant", "content": [], "timestamp": stamp, "stopReason": "stop", "usage": cost}
        file.entry("message", timestamp=stamp, message=said)
    for options in ((), ("--totals",)):
        assert done("ls", tmp_path, *options).out
        document = done("ls", tmp_path, *options, "--json").document
        assert {one["id"] for one in document["sessions"]} == {"s0", "s1"}


def test_a_fork_of_claude_code_is_found_by_the_files_that_it_was_begun_with(
    done: Run, isolated_environment: Path
) -> None:
    transcript = Transcript(isolated_environment / ".claude")
    transcript.prompt("change the cart")
    transcript.call("Write", "c1", file_path="/home/ada/orchard/cart.py", content="a = 1\n")
    transcript.result("c1")
    transcript.reply("changed")
    rows = [json.loads(line) for line in transcript.path.read_text().splitlines()]
    for row in rows:
        row["forkedFrom"] = {"sessionId": transcript.session, "messageUuid": row.get("uuid")}
        row["sessionId"] = IDS[1]
    copy = transcript.path.with_name(f"{IDS[1]}.jsonl")
    copy.write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = done("ls", "--query", "file:cart.py", "--json").document["sessions"]
    assert {session["id"] for session in listed} == {transcript.session, IDS[1]}
    assert "cart.py" in done("files", copy).out


def test_what_adds_up_nothing_is_said_and_damage_is_called_as_on_the_screen(
    run: Run, done: Run, tmp_path: Path
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("plant")
    with file.path.open("a") as out:
        out.write("{{{\n")
    outcome = run("ls", tmp_path, "--by", "day")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--by needs --totals" in outcome.err
    assert "day" in done("ls", tmp_path, "--by", "day", "--totals").out
    assert "! 1 damaged" in done("ls", tmp_path).out


def test_an_excerpt_begins_in_the_middle_and_is_not_damaged(done: Run, tmp_path: Path) -> None:
    """As excerpts of transcripts are: the first parent is elsewhere, and the last line lacks its newline."""
    file = PiFile(tmp_path / "s.jsonl")
    file.user("plant")
    file.user("water")
    head, _first, last = file.path.read_text().splitlines()
    file.path.write_text(f"{head}\n{last}")
    (listed,) = done("ls", tmp_path, "--json").document["sessions"]
    assert (listed["damage"], listed["midway"]) == (0, True)
    shown = done("ls", tmp_path).out
    assert "damaged" not in shown
    assert "begins in the middle" in shown
    tree = done("tree", file.path).out
    assert "the session begins in the middle" in tree
    assert "parent missing" not in tree
    assert done("select", file.path, "damaged()", "--json").document["entries"] == []
