"""Whatever a file holds: it opens with the damage shown, or is refused in one line; never a traceback, never a hang."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.cli.main import main
from tests.pi_file import HEADER, PiFile, conversation
from tests.surroundings import THOROUGH, as_any_user

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HEAD = json.dumps(HEADER, separators=(",", ":")).encode() + b"\n"


def message(entry: str, parent: str | None, text: str = "x", role: str = "user") -> bytes:
    line = {
        "type": "message",
        "id": entry,
        "parentId": parent,
        "timestamp": "2026-11-21T21:00:00.000Z",
        "message": {"role": role, "content": text},
    }
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


ONE = message("00000001", None)
TWO = message("00000002", "00000001")

OPENS = {
    "torn last line": HEAD + ONE + TWO[:40],
    "no newline at the end": HEAD + ONE + TWO.rstrip(b"\n"),
    "bad lines": HEAD + ONE + b"{\nnonsense\n}\n" + TWO,
    "NULs in a line": HEAD + ONE + b"\0\0\0\0\n" + TWO,
    "NULs at the end": HEAD + ONE + bytes(5000),
    "null and scalars": HEAD + b'null\n1\n"text"\n[1,2]\ntrue\n' + ONE,
    "BOM": b"\xef\xbb\xbf" + HEAD + ONE,
    "CRLF": (HEAD + ONE + TWO).replace(b"\n", b"\r\n"),
    "lone surrogates": HEAD + ONE.replace(b'"x"', b'"a\\ud83d b"'),
    "invalid UTF-8": HEAD + ONE.replace(b'"x"', b'"a\xff\xfe"'),
    "duplicate ids": HEAD + ONE + ONE + TWO + TWO,
    "a cycle of two": HEAD + message("00000001", "00000002") + TWO,
    "its own parent": HEAD + message("00000001", "00000001"),
    "orphans": HEAD + message("00000001", "ffffffff") + TWO,
    "several headers": HEAD + ONE + HEAD + TWO,
    "no header": ONE + TWO,
    "header only": HEAD,
    "future version": HEAD.replace(b'"version":3', b'"version":9') + ONE,
    "version as text": HEAD.replace(b'"version":3', b'"version":"3"') + ONE,
    "a line of two megabytes": HEAD + message("00000001", None, "long " * 420_000),
    "a very deep line": HEAD
    + b'{"type":"custom","id":"00000001","parentId":null,"data":'
    + b"[" * 900
    + b"]" * 900
    + b"}\n",
    "a far too deep line": HEAD + b'{"type":"custom","data":' + b"[" * 90_000 + b"]" * 90_000 + b"}\n" + ONE,
    "no ids": HEAD + b'{"type":"message","message":{"role":"user","content":"x"}}\n' + ONE,
    "ids of other types": HEAD
    + b'{"type":"message","id":7,"parentId":[1],"message":{"role":"user","content":"x"}}\n'
    + ONE,
    "null everywhere": HEAD
    + b'{"type":null,"id":null,"parentId":null,"timestamp":null,"message":null}\n'
    + ONE,
    "null content": HEAD + message("00000001", None).replace(b'"x"', b"null"),
    "junk in contents": HEAD
    + ONE.replace(b'"x"', b'[null,1,"x",{"type":"text"},{"type":"text","text":5},[]]'),
    "blank lines": HEAD + b"\n\n  \n" + ONE + b"\n",
    "edits that edit each other": HEAD
    + ONE
    + b"".join(
        b'{"type":"context_edit","id":"%08x","parentId":"%08x","timestamp":"t","targetId":"%08x","replacement":null}\n'
        % (number, number - 1, number - 1)
        for number in range(2, 3000)
    ),
}
REFUSED = {
    "empty": b"",
    "one blank line": b"\n",
    "NULs only": bytes(100),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "prose": b"dear diary\ntoday\n",
}

READERS = (("tree",), ("tree", "--entries"), ("show",), ("context",), ("files",), ("log",), ("doctor",))
FORMATS = ("md", "html", "json")


def one_line(err: str) -> bool:
    return err.startswith("leafward: ") and err.count("\n") == 1 and "unforeseen" not in err


@pytest.mark.parametrize("case", OPENS)
def test_an_odd_file_opens_in_every_verb_that_reads(case: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(OPENS[case])
    for verb, *options in READERS:
        empty = case == "header only" and verb == "show"
        for as_json in ((), ("--json",)):
            outcome = run(verb, path, *options, *as_json)
            if empty:
                assert outcome.code == 1
                assert one_line(outcome.err)
                continue
            assert (outcome.code, outcome.err) == (0, ""), (verb, outcome.err)
            if as_json:
                assert isinstance(outcome.document, dict)
    for form in FORMATS:
        outcome = run("export", path, "--all", "--format", form)
        assert outcome.code == 0, outcome.err
        assert outcome.out
    assert path.read_bytes() == OPENS[case]


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line(case: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(REFUSED[case])
    for verb, *options in READERS:
        outcome = run(verb, path, *options, "--json")
        assert (outcome.code, outcome.out) == (1, "")
        assert one_line(outcome.err)
    assert path.read_bytes() == REFUSED[case]


@pytest.mark.parametrize(("data", "said"), [(b"", "is empty"), (b"hello\n", "is not a session: no line ")])
def test_the_reason_goes_on_from_the_path(run: Run, tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    for words in (("keep", path), ("search", "pears", path)):
        assert f"{path} {said}" in run(*words).err


def test_a_folder_and_what_is_not_there(run: Run, tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "missing.jsonl", "", "no-such-id"):
        for verb, *options in READERS:
            outcome = run(verb, target, *options)
            assert (outcome.code, outcome.out) == (1, "")
            assert one_line(outcome.err)


@as_any_user
def test_an_unreadable_file(run: Run, tmp_path: Path) -> None:
    path = conversation(tmp_path / "s.jsonl").path
    path.chmod(0)
    for arguments in (("tree", path), (path,)):
        outcome = run(*arguments)
        assert (outcome.code, outcome.out) == (1, "")
        assert one_line(outcome.err)
        assert "Permission denied" in outcome.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_does_not_hang(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    outcome = run("tree", tmp_path / "pipe")
    assert outcome.code == 1
    assert one_line(outcome.err)


def test_a_path_with_what_a_terminal_could_act_on(run: Run, tmp_path: Path) -> None:
    outcome = run("tree", tmp_path / "a\x1b[31mb\nc")
    assert outcome.code == 1
    assert one_line(outcome.err)
    assert "\x1b" not in outcome.err


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    Path(os.fsdecode(path)).write_bytes(HEAD + ONE)
    found = subprocess.run(
        [sys.executable, "-m", "leafward", "tree", path, "--json"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(found.stdout)["session"]["path"].endswith("\udcff.jsonl")
    subprocess.run(
        [sys.executable, "-m", "leafward", "tree", path], capture_output=True, check=True, timeout=60
    )


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_a_stdout_that_is_not_utf_8(locale: str, tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("樹木 and → arrows")
    found = subprocess.run(
        [sys.executable, "-m", "leafward", "tree", file.path],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "LC_ALL": locale, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert b"@  ?? and ? arrows" in found.stdout


def original() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = PiFile(Path(folder, "s.jsonl"))
        file.user("question")
        file.reply("looking", "call_1")
        file.result("call_1")
        file.reply("answer")
        file.entry("label", targetId="00000001", label="start")
        file.user("other", parent="00000001")
        file.entry("branch_summary", fromId="00000004", summary="went there", parent="00000006")
        file.entry("compaction", summary="so far", firstKeptEntryId="00000006", tokensBefore=9)
        file.entry("context_edit", targetId="00000006", replacement={"content": "better"})
        file.entry(
            "custom",
            customType="leafward.leaf",
            data={"from": "00000009", "target": "00000004"},
            parent="00000004",
        )
        file.entry("session_info", name="named")
        return file.path.read_bytes()


ORIGINAL = original()
LINES = ORIGINAL.splitlines(keepends=True)
Line = st.integers(0, len(LINES) - 1)


@st.composite
def mutilated(draw: st.DrawFn) -> bytes:
    """The file with a few things done to it: lines dropped, doubled, shuffled; bytes cut, flipped, put in."""
    lines = list(LINES)
    for _ in range(draw(st.integers(0, 4))):
        action = draw(st.sampled_from(["drop", "double", "swap", "byte", "nul", "garbage", "id", "glue"]))
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        place = draw(st.integers(0, len(line)))
        if action == "drop" and len(lines) > 1:
            del lines[at]
        elif action == "double":
            lines.insert(draw(st.integers(0, len(lines))), line)
        elif action == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        elif action == "byte":
            lines[at] = line[:place] + bytes([draw(st.integers(0, 255))]) + line[place + 1 :]
        elif action == "nul":
            lines[at] = line[:place] + b"\0" * draw(st.integers(1, 9)) + line[place:]
        elif action == "garbage":
            lines[at] = line[:place] + draw(st.binary(max_size=12)) + line[place:]
        elif action == "id":
            ids = [f"{number:08x}".encode() for number in range(1, 12)]
            lines[at] = line.replace(draw(st.sampled_from(ids)), draw(st.sampled_from(ids)))
        elif action == "glue":
            lines[at] = line.rstrip(b"\n")
    whole = b"".join(lines)
    return whole[: draw(st.integers(0, len(whole)))] if draw(st.booleans()) else whole


def quietly(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


@settings(max_examples=120 if THOROUGH else 40)
@given(mutilated())
def test_no_mutilation_is_too_much(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(data)
        codes = set()
        for verb in ("tree", "context", "doctor", "files", "log"):
            code, out, err = quietly(verb, str(path), "--json")
            codes.add(code)
            assert one_line(err) if code else not err
            if not code:
                assert isinstance(json.loads(out), dict)
        assert len(codes) == 1, "one verb opens what another refuses"
        if codes == {0}:
            for form in FORMATS:
                code, _, err = quietly("export", str(path), "--all", "--format", form)
                assert code == 0, err
            code, out, _ = quietly("tree", str(path))
            assert code == 0
            assert "\x1b" not in out
        assert path.read_bytes() == data


@settings(max_examples=40)
@given(mutilated(), st.sampled_from(["leaf", "root", "#2", "00000001", "00000004"]))
def test_a_write_is_whole_or_refused(data: bytes, target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        path.write_bytes(data)
        for verb in (
            ("move", str(path), target),
            ("label", str(path), target, "x"),
            ("name", str(path), "n"),
        ):
            before = path.read_bytes()
            code, out, err = quietly(*verb, "--json")
            after = path.read_bytes()
            remarks = [] if code else [remark["code"] for remark in json.loads(out)["diagnostics"]]
            # A header that lost its version is one of version 1: migrated on the first write, never only appended to.
            assert "migrates" in remarks or after.startswith(before)
            if code:
                assert after == before
                assert one_line(err)
            elif json.loads(out)["entries"]:
                assert after.endswith(b"}\n")
                assert after != before
