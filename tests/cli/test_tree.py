"""`leafward tree`: the document, and the outline that a person reads."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.outline import outline_rows
from leafward.cli.output.outline_lines import outline
from leafward.cli.output.page import Page, cells, say
from leafward.session.journal.session_operations import archive, move
from tests.oracle.golden import GOLDEN, load
from tests.pi_file import PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session
    from tests.cli.conftest import Open, Run


class TestDocument:
    def test_the_document_has_the_session_and_its_entries(self, done: Run, sessions: Path) -> None:
        document = done("tree", sessions / "branches.jsonl", "--json").document
        assert document["session"] == document["session"] | {
            "id": "01a20083-4119-77ea-86ce-44fb932f7bc5",
            "agent": "pi",
            "cwd": "/home/ada/orchard",
            "name": "Units and branches",
            "version": 3,
            "pending": None,
            "read_only": None,
        }
        assert set(document["entries"][0]) >= {
            "index",
            "id",
            "parent",
            "kind",
            "role",
            "label",
            "tokens",
            "on_path",
            "damage",
        }

    @pytest.mark.parametrize("name", ["branches", "compacted-twice", "rpc-errors", "version-1"])
    def test_agrees_with_pi(self, name: str, done: Run, sessions: Path) -> None:
        document = done("tree", sessions / f"{name}.jsonl", "--json").document
        golden = load(GOLDEN / f"{name}.json")
        entries = document["entries"]
        assert len(entries) == golden.head["entry_count"]
        assert document["leaf"] == entries[golden.head["leaf"]]["id"]
        assert {str(one["index"]): one["label"] for one in entries if one["label"]} == golden.head["labels"]
        assert [one["index"] for one in entries if one["parent"] is None] == golden.head["roots"]
        for row in golden.nodes[-1].messages:
            if entries[row.entry]["role"] == row.role:
                assert entries[row.entry]["tokens"] == row.tokens

    def test_the_path_is_the_parents_of_the_leaf(self, done: Run, sessions: Path) -> None:
        document = done("tree", sessions / "branches.jsonl", "--json").document
        by_id = {entry["id"]: entry for entry in document["entries"]}
        path = set()
        at = document["leaf"]
        while at is not None:
            path.add(at)
            at = by_id[at]["parent"]
        assert {entry["id"] for entry in document["entries"] if entry["on_path"]} == path

    def test_leaves_and_branch_points_are_of_the_conversation(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.entry("label", parent="00000002", targetId="00000002", label="x")
        file.user("another way", parent="00000002")
        document = done("tree", file.path, "--json").document
        assert document["leaves"] == ["00000004", "00000006"]
        assert document["branch_points"] == ["00000002"]
        assert document["entries"][1]["label"] == "x"

    def test_an_empty_session_has_no_leaf(self, done: Run, tmp_path: Path) -> None:
        document = done("tree", PiFile(tmp_path / "s.jsonl").path, "--json").document
        assert (document["leaf"], document["entries"], document["leaves"]) == (None, [], [])

    def test_kinds_are_native(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 1)
        file.entry("brand_new", x=1)
        file.entry("message", message={"role": "oracle", "content": "?"})
        file.raw("{broken")
        entries = done("tree", file.path, "--json").document["entries"]
        assert [(entry["kind"], entry["role"]) for entry in entries[2:]] == [
            ("brand_new", None),
            ("message", "oracle"),
            ("malformed", None),
        ]
        assert entries[-1]["damage"] == "malformed"

    def test_usage_of_the_session_is_summed(self, done: Run, tmp_path: Path) -> None:
        usage = done("tree", conversation(tmp_path / "s.jsonl", 3).path, "--json").document["session"][
            "usage"
        ]
        assert (usage["input"], usage["output"], usage["total"]) == (30, 15, 45)

    def test_lone_surrogates_are_escaped(self, done: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.raw(
            '{"type":"label","id":"00000001","parentId":null,"targetId":"00000001","label":"half \\ud83d"}'
        )
        outcome = done("tree", file.path, "--json")
        assert "\\ud83d" in outcome.out
        assert outcome.document["entries"][0]["label"] == "half \ud83d"


def lines_of(session: Session) -> list[str]:
    """The rows without the columns of numbers and the heading."""
    return [line[:69].rstrip() for line in outline(session, Page(97))][1:]


@pytest.fixture
def branched(tmp_path: Path) -> Path:
    file = conversation(tmp_path / "s.jsonl", 2)
    file.user("side one", parent="00000002")
    file.reply("side answer")
    file.user("deeper", parent="00000006")
    file.user("side two", parent="00000006")
    file.reply("more", parent="00000004")
    return file.path


class TestOutline:
    def test_the_leaf_is_the_one_that_every_verb_means(self, tmp_path: Path, done: Run) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        leaf = file.entry("custom", customType="ext.state", data={})
        assert f"leaf {leaf}" in done("tree", file.path).out.splitlines()[1]
        assert f"at {leaf}" in done("context", file.path).out.splitlines()[0]

    def test_a_compaction_that_grows_the_context_says_so(self, tmp_path: Path, done: Run) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.entry("compaction", summary="long " * 2_000, firstKeptEntryId="00000001", tokensBefore=20)
        row = next(line for line in done("tree", file.path).out.splitlines() if "→" in line or "->" in line)
        assert "larger than before" in row

    def test_branches_stand_after_the_turn_they_leave(self, branched: Path, opened: Open) -> None:
        assert lines_of(opened(branched)) == [
            "00000001  ●      question 0",
            "00000005  ┠─○    side one",
            "00000008  ┃ ├─○  side two",
            "00000007  ┃ ○    deeper",
            "00000003  ◎      question 1                                      leaf",
        ]

    def test_the_path_is_in_lane_0_and_what_lies_below_the_leaf_is_a_branch(
        self, branched: Path, opened: Open
    ) -> None:
        session = opened(branched)
        move(session, session.find("00000006"))
        assert lines_of(session) == [
            "00000001  ●    question 0",
            "00000003  ┠─○  question 1",
            "00000005  ◎    side one                                          leaf",
            "00000007  ┠─○  deeper",
            "00000008  ┖─○  side two",
        ]

    def test_a_row_says_where_its_turn_ends(self, branched: Path, done: Run) -> None:
        """A move there goes on behind the turn; the id alone is that of the prompt."""
        rows = [line.split() for line in done("tree", branched).out.splitlines()]
        ends = {row[0]: next(word for word in row if word.startswith("#")) for row in rows if "·" in row}
        assert ends == {
            "00000001": "#1",
            "00000005": "#5",
            "00000008": "#7",
            "00000007": "#6",
            "00000003": "#8",
        }
        moved = done("move", branched, ends["00000001"], "--json").document
        assert moved["target"] == "00000002"
        assert "#" not in done("tree", branched, "--entries").out

    def test_an_archived_branch_is_one_row(self, branched: Path, done: Run, opened: Open) -> None:
        session = opened(branched)
        archive(session, session.find("00000005"))
        out = done("tree", branched).out
        assert "00000005  ┠─▸  archived  4 entries  side one" in out
        assert "deeper" not in out
        assert "deeper" in done("tree", branched, "--archived").out
        assert done("tree", branched, "--json").document["archived"] == ["00000005"]

    def test_ascii_where_the_page_has_nothing_else(self, branched: Path, opened: Open) -> None:
        text = "\n".join(outline(opened(branched), Page(unicode=False)))
        assert text.isascii()
        assert "00000005  +-o    side one" in text

    @pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
    def test_a_locale_without_unicode_gets_ascii_in_a_pipe_too(
        self, branched: Path, done: Run, monkeypatch: pytest.MonkeyPatch, locale: str
    ) -> None:
        assert not done("tree", branched).out.isascii()
        monkeypatch.setenv("LC_ALL", locale)
        assert done("tree", branched).out.isascii()

    def test_one_row_an_entry(self, branched: Path, opened: Open) -> None:
        rows = list(outline_rows(opened(branched), every_entry=True))
        assert sorted(row.entry for row in rows) == list(range(9))

    def test_damage_is_shown_where_it_is(self, tmp_path: Path, opened: Open) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("before")
        file.raw("not json")
        file.reply("after")
        file.user("orphan", parent="ffffffff")
        session = opened(file.path)
        assert [(row.entry, row.end) for row in outline_rows(session)][:2] == [(0, 2), (1, 1)]
        lines = lines_of(session)
        assert "○  before" in lines[0]
        assert "!  malformed  the line is not a JSON object" in lines[1]
        assert lines[2] == ""
        assert lines[3].endswith("! parent missing  leaf")

    def test_what_a_terminal_could_act_on_never_gets_there(self, run: Run, tmp_path: Path) -> None:
        file = PiFile(
            tmp_path / "s.jsonl", {"type": "session", "version": 3, "id": "a\x1b]0;x\x07", "cwd": "/\x1b[2J"}
        )
        file.user("\x1b[31mred\x1b[0m \u202eturned [bold]x[/bold]")
        file.entry("session_info", name="\x1b[1mname\x9b2J")
        file.entry("label", targetId="00000001", label="\x07bell")
        for verb in (
            ("tree",),
            ("tree", "--entries"),
            ("context",),
            ("show",),
            ("log",),
            ("doctor",),
            ("export",),
        ):
            outcome = run(verb[0], file.path, *verb[1:])
            assert outcome.code == 0
            assert not set(outcome.out + outcome.err) & {"\x1b", "\x07", "\x9b", "\u202e"}

    def test_every_line_fits(self, sessions: Path, opened: Open) -> None:
        for path in sessions.glob("*.jsonl"):
            for width in (60, 80, 140):
                lines = outline(opened(path), Page(width))
                assert max(map(cells, lines)) <= width

    def test_lanes_stay_few_however_a_session_branches(self, tmp_path: Path, opened: Open) -> None:
        draw = random.Random(4)
        file = PiFile(tmp_path / "s.jsonl")
        known = [file.user("root")]
        for _ in range(600):
            known.append(file.user("x", parent=draw.choice(known[-40:])))
        rows = list(outline_rows(opened(file.path)))
        assert len(rows) == len(known)
        assert max(row.lane for row in rows) <= math.log2(len(known)) + 2

    def test_ten_thousand_nested_branches(self, run: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        shape = (
            '{{"type":"message","id":"{}","parentId":{},"timestamp":"2026-11-21T21:00:00.000Z",'
            '"message":{{"role":"user","content":"x"}}}}'
        )
        lines = [
            shape.format(entry, f'"{number - 1:08x}"' if number else "null")
            for number in range(10_000)
            for entry in (f"{number:08x}", f"s{number:07x}")
        ]
        file.raw("\n".join(lines))
        outcome = run("tree", file.path)
        assert outcome.code == 0
        assert outcome.out.count("\n") > 20_000


@pytest.mark.parametrize("name", ["before-compaction", "branched-compacted", "branched", "large-session"])
def test_real_sessions(name: str, corpora: Path, done: Run) -> None:
    path = corpora / "pi" / f"{name}.jsonl"
    document = done("tree", path, "--json").document
    assert len(document["entries"]) == load(GOLDEN / f"{name}.json").head["entry_count"]
    asked = [entry["id"] for entry in document["entries"] if entry["role"] == "user"][:2]
    # The first prompt of large-session is a bare `/mode`.
    prompts = [done("show", path, one).out for one in asked]
    title = done("tree", path).out.partition("  ")[0]
    assert title == document["session"]["name"] or any(title.rstrip("…") in prompt for prompt in prompts)


def test_a_command_of_ones_own_and_a_context_edit_are_called_as_on_the_screen(
    done: Run, tmp_path: Path
) -> None:
    file = conversation(tmp_path / "session.jsonl", 1)
    command = {"role": "bashExecution", "command": "make check", "output": "ok\n", "exitCode": 0}
    file.entry("message", message=command)
    file.entry("context_edit", targetId=file.user("a prompt"), replacement=None)
    out = done("tree", file.path).out
    assert "! make check" in out
    assert "context edit omits" in out


def test_a_message_of_an_extension_is_no_prompt_of_the_users(done: Run, tmp_path: Path) -> None:
    file = conversation(tmp_path / "session.jsonl", 1)
    file.entry("custom_message", customType="ci", content="CI failed", display=True)
    file.user("and now?")
    (row,) = (line for line in done("tree", file.path).out.splitlines() if "CI failed" in line)
    assert row.split()[1:3] == ["┃", "extension"]


def test_damage_is_the_last_mark_that_a_narrow_row_gives_up(
    done: Run, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    file = conversation(tmp_path / "session.jsonl", 1)
    file.leaf = "feedfeed"
    lost = file.user("lost")
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "make"}}
    file.entry("message", message={"role": "assistant", "content": [call], "stopReason": "toolUse"})
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": True, "content": "no"}
    file.entry("message", message=result)
    file.user("and now?")
    assert run("label", file.path, lost, "a label").code == 0
    (row,) = (line for line in done("tree", file.path).out.splitlines() if "  lost" in line)
    assert "parent missing" in row
    assert "+2" in row
    assert "[a label]" not in row


def test_the_leaf_that_a_person_is_told_of_is_no_note_of_ours(done: Run, run: Run, tmp_path: Path) -> None:
    file = conversation(tmp_path / "session.jsonl", 2)
    leaf = file.user("and now?")
    assert run("label", file.path, "leaf", "here").code == 0
    assert f"leaf {leaf}" in done("tree", file.path).out
    assert done("context", file.path).out.startswith(f"Context at {leaf}\n")
    note = done("tree", file.path, "--json").document["leaf"]
    assert note != leaf
    assert done("context", file.path, "--at", note, "--json").document["at"] == note


def test_the_first_of_many_lines_are_written_before_the_last_is_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written = []

    def lines() -> Iterator[str]:
        yield from map(str, range(10_000))
        written.append(capsys.readouterr().out.splitlines())

    say(lines())
    last = capsys.readouterr().out.splitlines()
    assert len(written[0]) > 5_000
    assert [*written[0], *last] == list(map(str, range(10_000)))
