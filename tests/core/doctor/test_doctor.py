"""Problems that the doctor finds, and no others."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.doctor.session_problems import LONG_LINE, check
from leafward.session.session import Session
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.doctor.problem import Problem


@pytest.fixture
def file(tmp_path: Path) -> PiFile:
    """A sound file with a prompt, a reply that calls, and the result; its folder exists."""
    made = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    made.user("question")
    made.reply("looking", "call_1")
    made.result("call_1")
    made.reply("answer")
    return made


def problems(file: PiFile) -> list[Problem]:
    with closing(Session.open(file.path)) as session:
        return check(session)


def codes(file: PiFile) -> list[str]:
    return [problem.code for problem in problems(file)]


def test_a_sound_file(file: PiFile) -> None:
    assert codes(file) == []


def test_a_torn_tail(file: PiFile) -> None:
    size = file.path.stat().st_size
    file.raw('{"type":"mess', end="")
    (problem,) = problems(file)
    assert (problem.code, problem.offset) == ("torn-tail", size)


def test_no_newline_at_the_end(file: PiFile) -> None:
    file.path.write_bytes(file.path.read_bytes().rstrip(b"\n"))
    (problem,) = problems(file)
    assert (problem.code, problem.entry) == ("unterminated", "00000004")


def test_lines_that_only_look_whole(file: PiFile) -> None:
    """A scan takes a line by its beginning; only decoding shows a broken end."""
    data = file.path.read_bytes()
    file.path.write_bytes(data.replace(b'"looking"', b'"looking'))
    assert "malformed" in codes(file)
    assert "orphan" in codes(file)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("nonsense", "malformed"),
        ("null", "malformed"),
        ("\0\0\0", "malformed"),
        (json.dumps(HEADER), "extra-header"),
        ('{"type":"custom","customType":"x"}', "no-id"),
        ('{"type":"custom","id":"0000000a","parentId":"ffffffff"}', "orphan"),
        ('{"type":"custom","id":"0000000a","parentId":"0000000a"}', "cycle"),
        (
            '{"type":"label","id":"0000000a","parentId":"00000004","targetId":"ffffffff","label":"x"}',
            "label-target",
        ),
        (
            '{"type":"context_edit","id":"0000000a","parentId":"00000004","targetId":"ffffffff"}',
            "edit-target",
        ),
    ],
)
def test_a_line_at_the_end(line: str, code: str, file: PiFile) -> None:
    size = file.path.stat().st_size
    file.raw(line)
    found = {problem.code: problem for problem in problems(file)}
    assert found[code].offset == size
    assert found.keys() <= {code, "no-id"}


def test_nul_bytes_have_the_name_that_the_tree_gives_them(file: PiFile) -> None:
    file.raw("\0\0\0")
    (found,) = problems(file)
    assert (found.code, found.text) == ("malformed", "the line is not a JSON object: it has NUL bytes")


def test_an_id_of_a_hosted_call_that_is_no_text(file: PiFile) -> None:
    hosted = {"type": "toolCall", "id": [7], "name": "search", "arguments": {}, "hosted": True}
    file.entry("message", message={"role": "assistant", "stopReason": "stop", "content": [hosted]})
    assert codes(file) == []


def test_duplicate_ids(file: PiFile) -> None:
    file.raw('{"type":"custom","id":"00000004","parentId":"00000003","timestamp":"t","customType":"x"}')
    assert codes(file) == ["duplicate-id", "duplicate-id"]


class TestHeader:
    def test_that_is_missing(self, file: PiFile) -> None:
        file.path.write_bytes(file.path.read_bytes().partition(b"\n")[2])
        assert codes(file) == ["no-header"]

    def test_of_a_version_to_come(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", HEADER | {"version": 4, "cwd": str(tmp_path)})
        file.user("x")
        assert codes(file) == ["future-version"]

    def test_behind_a_byte_order_mark(self, file: PiFile) -> None:
        file.path.write_bytes(b"\xef\xbb\xbf" + file.path.read_bytes())
        assert codes(file) == ["bom"]

    def test_of_a_folder_that_is_gone(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path / "gone\x1b[31m")})
        file.user("x")
        (problem,) = problems(file)
        assert problem.code == "cwd-missing"
        assert "\x1b" not in problem.text


def test_several_roots(file: PiFile) -> None:
    file.user("another start", parent=None)
    (problem,) = problems(file)
    assert (problem.code, problem.entry) == ("several-roots", "00000005")


def test_prompts_below_one_setting_are_branches_of_one_beginning(tmp_path: Path) -> None:
    """pi 0.50 to 0.87: settings stand ahead of the first prompt, and an edited one hangs on them too."""
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    setting = file.entry("model_change", provider="grove", modelId="pear-1")
    file.user("Look at the orchard")
    file.user("Look at the garden", parent=setting)
    assert codes(file) == []


def test_a_long_line(file: PiFile) -> None:
    file.user("x" * LONG_LINE)
    file.reply("short")
    (problem,) = problems(file)
    assert (problem.code, problem.entry) == ("long-line", "00000005")


class TestCalls:
    def test_a_call_without_result(self, file: PiFile) -> None:
        file.reply("again", "call_2")
        file.user("never mind")
        (problem,) = problems(file)
        assert (problem.code, problem.entry) == ("dangling-call", "00000005")
        assert "read" in problem.text

    def test_at_the_end_of_a_branch(self, file: PiFile) -> None:
        file.reply("again", "call_2", "call_3")
        file.result("call_2")
        assert codes(file) == ["dangling-call"]

    def test_answered_on_one_branch_only(self, file: PiFile) -> None:
        file.user("went back too far", parent="00000002")
        (problem,) = problems(file)
        assert (problem.code, problem.entry) == ("dangling-call", "00000002")

    def test_a_result_without_call(self, file: PiFile) -> None:
        file.result("call_9")
        assert codes(file) == ["dangling-result"]

    def test_a_second_result(self, file: PiFile) -> None:
        file.result("call_1", parent="00000003")
        assert codes(file) == ["dangling-result"]

    @pytest.mark.parametrize("stop", ["aborted", "error"])
    def test_replies_that_pi_drops_owe_nothing(self, stop: str, file: PiFile) -> None:
        file.reply("again", "call_2", stop=stop)
        file.user("go on")
        assert codes(file) == []

    def test_bookkeeping_between_call_and_result(self, file: PiFile) -> None:
        file.reply("again", "call_2")
        file.entry("label", targetId="00000001", label="x")
        file.result("call_2")
        assert codes(file) == []


class TestCompactions:
    @pytest.mark.parametrize(
        ("kept", "code"),
        [
            ("00000001", []),
            ("00000004", []),
            ("ffffffff", ["first-kept-missing"]),
            ("00000003", ["first-kept-result"]),
            ("00000005", ["first-kept-off-path"]),
        ],
    )
    def test_where_the_kept_part_begins(self, kept: str, code: list[str], file: PiFile) -> None:
        file.user("aside", parent="00000001")
        file.entry("compaction", parent="00000004", summary="s", firstKeptEntryId=kept, tokensBefore=1)
        assert codes(file) == code

    def test_one_that_keeps_nothing_names_itself(self, file: PiFile) -> None:
        file.entry("compaction", summary="s", firstKeptEntryId="00000005", tokensBefore=1)
        assert codes(file) == []


def test_an_edit_of_another_branch(file: PiFile) -> None:
    file.user("aside", parent="00000001")
    file.entry("context_edit", parent="00000004", targetId="00000005", replacement=None)
    assert codes(file) == ["edit-off-path"]


@pytest.mark.parametrize("name", ["before-compaction", "branched-compacted", "branched", "large-session"])
def test_real_sessions_have_little_wrong(name: str, corpora: Path) -> None:
    with closing(Session.open(corpora / "pi" / f"{name}.jsonl")) as session:
        assert {problem.code for problem in check(session)} <= {"cwd-missing", "dangling-call"}


def test_types_that_no_known_pi_writes_are_named(file: PiFile) -> None:
    file.entry("hologram", text="x")
    file.entry("message", message={"role": "oracle", "content": "x"})
    file.entry(
        "message", message={"role": "user", "content": [{"type": "smell"}, {"type": "text", "text": "x"}]}
    )
    file.entry("message", message={"role": "user", "content": [{"type": "smell"}, {"type": ["odd"]}]})
    (problem,) = problems(file)
    assert (problem.code, problem.entry) == ("unknown-record", "00000005")
    assert problem.text == (
        "unknown records, kept as they are: block smell (2), block ['odd'] (1), hologram (1), role oracle (1)"
    )
