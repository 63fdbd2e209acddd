"""Texts of a session or a project that somebody made to be slow or to go too deep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.entries.records import Role, command_in, row_of
from leafward.agents.registry import agent_names, tools_of
from leafward.agents.storage.settings_file import settings_in
from leafward.base.emphasis import without_emphasis
from leafward.base.globs import expanded, matches
from leafward.files.file_replay.overlaps import may_begin_before, may_overlap
from leafward.files.file_replay.string_literals import texts_in
from leafward.files.opaque_calls import opaque_calls
from leafward.files.reads import numbered_lines, shown
from leafward.files.shell.effects import effects
from leafward.files.shell.powershell import effects as powershell_effects
from leafward.session.command_text import without_cd
from leafward.session.entries import read_usage
from leafward.session.journal.operation_log import operations
from leafward.session.tokens import json_length
from tests.acting import Acting, call, reading
from tests.core.linear_time import in_linear_time
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path


def test_very_many_folders_before_a_command() -> None:
    with in_linear_time():
        assert without_cd("cd a; " * 150_000 + "ls") == "ls"


def test_a_notice_with_very_many_lines() -> None:
    with in_linear_time():
        [run] = numbered_lines("\n".join(f"{number}\tpear" for number in range(1, 40_000)))
    assert (run.first, len(run.lines)) == (1, 39_999)


@pytest.mark.parametrize("piece", ["\\`", "x\\`y\n", '\\"', "'\\n' \\'"])
def test_a_program_with_very_many_escaped_quotes(piece: str) -> None:
    with in_linear_time():
        list(texts_in("// don`t\n" + piece * (150_000 // len(piece))))


def test_escaped_quotes_in_the_texts_of_a_program() -> None:
    program = """run({cmd: "echo \\"a\\" b", "command": 'it\\'s', x: `\\`q\\``}); /\\"/.test("c")"""
    assert list(texts_in(program)) == [('echo "a" b', True), ("it's", True), ("`q`", False), ("c", False)]


def test_a_long_text_that_is_replaced_in_known_lines() -> None:
    known = "\n".join("x" * 40 + str(number) for number in range(10_000))
    with in_linear_time():
        assert not may_begin_before(known, known[50:400_000])


@pytest.mark.parametrize(
    ("known", "old", "touch"),
    [
        ("abc", "cde", True),
        ("cde", "abc", True),
        ("b", "abc", True),
        ("abc", "b", False),
        ("abc", "xyz", False),
        ("abab", "babx", True),
        ("abc", "", False),
        ("", "abc", True),
    ],
)
def test_texts_that_may_touch(known: str, old: str, touch: bool) -> None:
    assert may_overlap(known, old) is touch


@pytest.mark.parametrize(
    ("known", "old", "above"),
    [("a\nb", "b", False), ("a\nb", "\nb", False), ("\n\na", "\n\n", True), ("\na\n\n", "\n\n", True)],
)
def test_an_old_text_that_may_begin_above(known: str, old: str, above: bool) -> None:
    assert may_begin_before(known, old) is above


def test_a_large_argument_with_half_a_character() -> None:
    with in_linear_time():
        assert json_length({"a": "ü" * 2_000_000 + "\ud800"}) == len('{"a":""}') + 2_000_000 + len("\\ud800")


def test_a_cost_that_no_float_holds() -> None:
    usage = read_usage({"input": 1, "cost": {"total": 10**400}})
    assert usage is not None
    assert (usage.cost, usage.priced) == (0.0, True)


def test_a_pattern_with_very_many_open_braces() -> None:
    with in_linear_time():
        for _ in range(20):
            assert not matches("a/b.py", "{" * 990)
        assert len(expanded("{a,b}" * 20 + "{" * 800)) == 258


@pytest.mark.parametrize(
    ("pattern", "patterns"),
    [
        ("{a,{b,c}}d", ["ad", "bd", "cd"]),
        ("{a}{b,c}", ["{a}b", "{a}c"]),
        ("{x{a,b}", ["{xa", "{xb"]),
        ("}{a,b}", ["}a", "}b"]),
        ("{a,b}{", ["a{", "b{"]),
        ("{a,{b}}", ["a", "{b}"]),
        ("{,a},", [",", "a,"]),
    ],
)
def test_the_patterns_of_braces(pattern: str, patterns: list[str]) -> None:
    assert expanded(pattern) == patterns


def test_very_many_lines_that_name_one_operation(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    target = file.user("go")
    for number in range(4_000):
        file.entry("label", targetId=target, label=str(number), leafward={"op": "x"})
    with reading(file.path) as session, in_linear_time():
        log = operations(session)
    assert len({one.op for one in log}) == len(log) == 4_000
    assert [one.op for one in log[:3]] == ["x", "x.label", "x.label.3"]


def nested(shells: int) -> str:
    opened = "".join(f"bash <<A{number}\n" for number in range(shells))
    return opened + "rm x\n" + "".join(f"A{number}\n" for number in reversed(range(shells)))


def test_shells_inside_one_another(tmp_path: Path) -> None:
    assert [one.path for one in effects(nested(3))] == ["x"]
    acting = Acting(tmp_path / "s.jsonl")
    acting.said(call("bash", "c1", command=nested(3)))
    acting.said(call("bash", "c2", command=nested(600)))
    with in_linear_time():
        assert effects(nested(600)) == []
        with reading(acting.path) as session:
            assert [(one.entry, one.name) for one in opaque_calls(session, range(2))] == [(1, "bash")]


@pytest.mark.parametrize("text", ['{"a": "' + '\\"' * 300_000, "{" + "/*" * 300_000, "{" + '"\\\\' * 200_000])
def test_settings_with_a_text_or_a_comment_that_never_ends(text: str) -> None:
    with in_linear_time():
        assert settings_in(text) == {}


def test_settings_with_comments_and_commas() -> None:
    text = '{"a": "x // y", /* "b": 1, */ "c": ["\\"", 2,], // d\n}'
    assert settings_in(text) == {"a": "x // y", "c": ['"', 2]}


@pytest.mark.parametrize(
    "line", ["**a " * 25_000, "__" + "a " * 50_000 + "_x __y", "**a__b " * 15_000 + "x**"]
)
def test_a_line_with_very_many_signs_of_emphasis(line: str) -> None:
    with in_linear_time():
        without_emphasis(line)


@pytest.mark.parametrize("piece", ["@'\n", '@"\n', '`"', "''", '""', "'"])
def test_powershell_with_texts_that_never_end(piece: str) -> None:
    with in_linear_time():
        list(powershell_effects('"' + piece * (190_000 // len(piece))))
        list(powershell_effects(piece * (190_000 // len(piece))))


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("rm 'a''b'", "a'b"),
        ('rm "a"', "a"),
        ("rm @'\na\n'@", "a"),
        ("rm @'\n'@; rm c", "c"),
        ('rm "a""b"', 'a""b'),
    ],
)
def test_texts_of_powershell(script: str, path: str) -> None:
    assert [one.path for one in powershell_effects(script)] == [path]


@pytest.mark.parametrize("agent", agent_names())
@pytest.mark.parametrize("piece", ["\n", "<file>\n", "<content>\n\n", "\n\n[", "1\t\n", "\n\n</file"])
def test_a_result_made_of_one_piece(agent: str, piece: str) -> None:
    table = tools_of(agent).own
    with in_linear_time():
        for form in (table.read_form, table.shell_form):
            shown(piece * (200_000 // len(piece)), {}, form)


@pytest.mark.parametrize("tag", ["command-name", "command-args", "bash-input"])
def test_a_command_whose_tags_never_end(tag: str) -> None:
    row = {"uuid": "u", "message": {"content": "<command-message>a</command-message>" + f"<{tag}>" * 70_000}}
    shell = "<bash-input>" + f"<{tag}>" * 70_000
    with in_linear_time():
        assert row_of({"type": "user", **row}).role is Role.COMMAND
        assert command_in(shell) is None
