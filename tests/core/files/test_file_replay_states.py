"""Files that cannot be rebuilt have a named state: every kind of bad input, and what the tools of other agents mean."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.claude.tools import CLAUDE_TOOLS
from leafward.agents.codex.tools import CODEX_TOOLS
from leafward.branches.diff.contents import Merge, SideContents
from leafward.branches.diff.file_sets import Flag, compare_files
from leafward.branches.diff.patches import patch_of
from leafward.branches.diff.sides import sides
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.bases import FileBase
from leafward.files.file_replay.knowledge import Certainty, FileState
from leafward.files.file_replay.path_files import resting_on
from leafward.files.file_replay.recorded_diffs import proven_by
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.replay import Rebuilt, replay
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import requests_in
from leafward.files.file_replay.timeline import timeline
from leafward.files.restoration.recorded_files import RecordedFiles
from leafward.files.tool_calls import NATIVE_TOOLS
from leafward.files.working_set import searched, touched, working_set
from leafward.session.entries import EntryIndex, ToolCall
from leafward.session.session import Session
from tests.acting import Acting, call, reading
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from leafward.files.tool_calls import ToolTable


def rebuilt(file: Acting, path: str = "a.py", tools: ToolTable | None = None) -> Rebuilt:
    with closing(Session.open(file.path)) as session:
        if tools is not None:
            session.source.tools = tools
        return replay(session).rebuilt(path)


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    return file


def done(file: Acting, tool: str, **arguments: Any) -> str:
    name = f"call-{file.path.stat().st_size}"
    file.said(call(tool, name, **arguments))
    return file.answered(name, tool)


def edits(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"oldText": old, "newText": new} for old, new in pairs]


@pytest.mark.parametrize(
    ("text", "pairs", "result", "remark"),
    [
        ("a\r\nb\r\n", [("a\nb", "a\nc")], "a\r\nc\r\n", None),
        ("\ufeffa\nb\n", [("a\n", "c\n")], "\ufeffc\nb\n", None),
        ("a\n", [("zz", "c")], None, StepRemark.NOT_FOUND),
        ("a\na\n", [("a", "c")], None, StepRemark.AMBIGUOUS),
        ("a\nb\n", [("a", "x"), ("b", "y")], "x\ny\n", None),
        ("a\nb\n", [("a", "x"), ("zz", "y")], None, StepRemark.NOT_FOUND),
        ("a  \nb\n", [("a\nb", "x\nb")], None, StepRemark.LOOSE),
        ("", [("", "new\n")], "new\n", None),
    ],
)
def test_how_an_edit_applies(
    file: Acting, text: str, pairs: list[tuple[str, str]], result: str | None, remark: StepRemark | None
) -> None:
    done(file, "write", path="a.py", content=text)
    done(file, "edit", path="a.py", edits=edits(*pairs))
    found = rebuilt(file)
    assert found.text == result
    assert [what for _, what in found.remarks] == ([remark] if remark is not None else [])
    assert found.certainty is (Certainty.PARTIAL if remark is not None else Certainty.EXACT)


@pytest.mark.parametrize(
    ("text", "patch", "left"),
    [
        ("a  \nb\n“c”\n", "@@ -1,3 +1,3 @@\n-a  \n+x\n b\n “c”\n", "x\nb\n“c”\n"),
        ("a\nb\nc", "@@ -2,2 +2,2 @@\n b\n-c\n\\ No newline at end of file\n+x\n", "a\nb\nx\n"),
        ("a\n", "@@ -1,0 +2,1 @@\n+b\n", "a\nb\n"),
        # What the diff does not show may have been written without its signs.
        ("a\nb\nc\n“d”\n", "@@ -1,2 +1,2 @@\n-a\n+x\n b\n", None),
        # The diff is of another text.
        ("a\nb\n", "@@ -1,2 +1,2 @@\n-a\n+x\n c\n", None),
        ("a\nb\n", "@@ -2,2 +2,2 @@\n-a\n+x\n b\n", None),
        ("a\r\nb\n", "@@ -1,1 +1,1 @@\n-a\n+x\n", None),
        ("a\n", "@@ -1,2 +1,2 @@\n-a\n+x\n", None),
        ("a\n", "no diff", None),
    ],
)
def test_a_loose_edit_is_exact_where_the_diff_of_its_result_proves_it(
    text: str, patch: str, left: str | None
) -> None:
    assert proven_by(text, patch) == left


def test_an_edit_without_a_result_leaves_it_unknown_and_an_aborted_one_was_not_made(file: Acting) -> None:
    done(file, "write", path="a.py", content="a\n")
    file.said(call("edit", "x", path="a.py", edits=edits(("a", "b"))), stop="aborted")
    assert rebuilt(file).text == "a\n"
    file.said(call("edit", "y", path="a.py", edits=edits(("a", "b"))))
    found = rebuilt(file)
    assert (found.certainty, [what for _, what in found.remarks]) == (
        Certainty.UNKNOWN,
        [StepRemark.UNANSWERED],
    )


def test_replace_all_several_edits_and_cells_of_claude_code(file: Acting) -> None:
    done(file, "Write", file_path="a.py", content="x = x\n")
    done(file, "Edit", file_path="a.py", old_string="x", new_string="y", replace_all=True)
    assert rebuilt(file, tools=CLAUDE_TOOLS).text == "y = y\n"
    one_after_the_other = [
        {"old_string": "y = y", "new_string": "z"},
        {"old_string": "z", "new_string": "done"},
    ]
    done(file, "MultiEdit", file_path="a.py", edits=one_after_the_other)
    assert rebuilt(file, tools=CLAUDE_TOOLS).text == "done\n"
    done(file, "Write", file_path="n.ipynb", content="{}")
    done(file, "NotebookEdit", notebook_path="n.ipynb", new_source="print()", cell_id="1")
    found = rebuilt(file, "n.ipynb", CLAUDE_TOOLS)
    assert (found.certainty, [what for _, what in found.remarks]) == (Certainty.UNKNOWN, [StepRemark.CELL])


def shown_by_claude(file: Acting, text: str) -> None:
    """A read of Claude Code: lines are numbered, and end in newlines whatever they end in."""
    name = f"call-{file.path.stat().st_size}"
    file.said(call("Read", name, file_path="a.py"))
    lines = "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), 1))
    file.answered(name, "Read", lines)


def edited_by_claude(file: Acting, before: str, old: str, new: str) -> None:
    """An edit of Claude Code, whose result records what was there, with newlines."""
    name = f"call-{file.path.stat().st_size}"
    file.said(call("Edit", name, file_path="a.py", old_string=old, new_string=new))
    file.answered(name, "Edit", details={"before": before})


def test_how_lines_end_is_not_known_from_what_claude_code_shows(file: Acting) -> None:
    shown_by_claude(file, "one\ntwo\n")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert (found.text, found.ends, found.remarks) == ("one\ntwo\n", False, ())
    edited_by_claude(file, "\ufeffone\ntwo\n", "two", "2\n3")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert (found.text, found.ends, found.remarks) == ("\ufeffone\n2\n3\n", False, ())
    done(file, "Write", file_path="a.py", content="new\n")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert (found.text, found.ends) == ("new\n", True)
    shown_by_claude(file, "new\n")
    assert rebuilt(file, tools=CLAUDE_TOOLS).ends


def test_ends_that_are_known_stay_though_claude_code_shows_others(file: Acting) -> None:
    done(file, "Write", file_path="a.py", content="one\r\ntwo\r\n")
    shown_by_claude(file, "one\ntwo\n")
    edited_by_claude(file, "one\ntwo\n", "two", "2\n3")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert (found.text, found.ends, found.remarks) == ("one\r\n2\r\n3\r\n", True, ())
    shown_by_claude(file, "one\nother\n")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert [what for _, what in found.remarks] == [StepRemark.CHANGED_OUTSIDE]
    assert (found.text, found.ends) == ("one\nother\n", False)


def test_what_a_command_prints_and_what_claude_code_shows_are_one_file(file: Acting) -> None:
    file.said(call("Bash", "cat", command="cat a.py"))
    file.answered("cat", "Bash", "one\r\ntwo")
    edited_by_claude(file, "one\ntwo\n", "two", "2")
    found = rebuilt(file, tools=CLAUDE_TOOLS)
    assert (found.text, found.ends, found.remarks) == ("one\r\n2\r\n", True, ())


def test_contents_of_a_base_keep_their_ends_under_what_claude_code_shows(file: Acting) -> None:
    shown_by_claude(file, "one\ntwo\n")
    edited_by_claude(file, "one\ntwo\n", "two", "2")
    with closing(Session.open(file.path)) as session:
        session.source.tools = CLAUDE_TOOLS
        replayed = resting_on(session, "a.py", FileBase("on disk", "one\r\ntwo\r\n"))
        replayed.go(steps(session, session.tree.path(session.leaf)))
        made = replayed.rebuilt("a.py")
    assert (made.text, made.ends, made.remarks) == ("one\r\n2\r\n", True, ())


BASE = "".join(f"line {at}\n" for at in range(9))


@pytest.mark.parametrize(
    ("hunks", "result", "remark"),
    [
        ("@@\n line 3\n-line 4\n+FOUR\n line 5", BASE.replace("line 4", "FOUR"), None),
        (
            "@@ line 1\n-line 2\n+TWO\n@@\n-line 7\n+SEVEN",
            BASE.replace("line 2", "TWO").replace("line 7", "SEVEN"),
            None,
        ),
        ("@@\n line 3  \n-line 4\n+FOUR", None, StepRemark.LOOSE),
        ("@@\n-line 99\n+x", None, StepRemark.NOT_FOUND),
    ],
)
def test_patches_of_codex(file: Acting, hunks: str, result: str | None, remark: StepRemark | None) -> None:
    added = "".join(f"+{line}\n" for line in BASE.splitlines())
    done(file, "apply_patch", input=f"*** Begin Patch\n*** Add File: a.py\n{added}*** End Patch")
    done(file, "apply_patch", input=f"*** Begin Patch\n*** Update File: a.py\n{hunks}\n*** End Patch")
    found = rebuilt(file, tools=CODEX_TOOLS)
    assert found.text == result
    assert [what for _, what in found.remarks] == ([remark] if remark is not None else [])


@pytest.mark.parametrize("mark", ["…7 tokens truncated…", "…2000 chars truncated…", "nothing is cut here"])
def test_what_codex_cut_out_of_an_output_is_not_taken_for_lines_of_the_file(file: Acting, mark: str) -> None:
    """It counts what it cut in tokens or in characters, as the model is limited (0.80 to 0.169)."""
    file.said(call("exec_command", "c1", cmd="cat a.py"))
    file.answered("c1", "exec_command", f"Exit code: 0\nOutput:\none\ntw{mark}st\n")
    found = rebuilt(file, tools=CODEX_TOOLS)
    assert found.text == (None if "truncated" in mark else f"one\ntw{mark}st\n")


CRLF = "one\r\ntwo\r\nthree\r\n"


@pytest.mark.parametrize(
    ("text", "hunks", "result"),
    [
        ("f\n x\ng\n x\n", "@@ g\n- x\n+ y", "f\n x\ng\n y\n"),
        ("a\nb", "@@\n a\n-b\n+c", "a\nc\n"),
        ("a\nb\na\nb\n", "@@\n-a\n b\n*** End of File", "a\nb\nb\n"),
        ("a\n", "@@\n+b", "a\nb\n"),
        # Since 0.169 line ends of the file are kept, before they were those of the patch.
        (CRLF, "@@\n one\n-two\n+TWO", None),
        # A blank last line was taken for the file's end until 0.125.
        ("a\n", "@@\n a\n+", None),
        ("a\r\nb\nc\n", "@@\n-c\n+d", None),
    ],
)
def test_a_patch_is_applied_as_codex_does_it_or_said_to_be_uncertain(
    text: str, hunks: str, result: str | None
) -> None:
    """Held against the real program in tests/oracle/test_tools.py."""
    state = FileState(text=text)
    (one,) = requests_in(
        ToolCall(
            "c", "apply_patch", {"input": f"*** Begin Patch\n*** Update File: a\n{hunks}\n*** End Patch"}
        ),
        CODEX_TOOLS,
    )
    state.patched(one.places, EntryIndex(0))
    assert state.text == result
    assert (state.certainty is Certainty.EXACT) is (result is not None)


@pytest.mark.parametrize(
    ("text", "pairs", "result"),
    [
        ("a\r\nb\n", [("b", "c\nd")], None),
        ("a\rb\n", [("b", "c")], None),
        ("a\nb\n", [("a", "x\r\ny")], None),
        ("a\nb\n", [("a", "b"), ("b", "c")], "b\nc\n"),
        ("a\n", [("a", "b"), ("b", "c")], "c\n"),
        ("“a”\nx\n", [('"a"', "y"), ("x", "z")], None),
    ],
)
def test_line_ends_and_several_edits_of_one_call(
    file: Acting, text: str, pairs: list[tuple[str, str]], result: str | None
) -> None:
    done(file, "write", path="a.py", content=text)
    done(file, "edit", path="a.py", edits=edits(*pairs))
    assert rebuilt(file).text == result


def test_what_a_program_of_codex_calls_is_inferred(file: Acting) -> None:
    """Code mode: a script calls the tools, and nothing tells which of its calls were made."""
    patch = (
        "*** Begin Patch\\n*** Update File: a.py\\n@@\\n-a\\n+b\\n*** Add File: new.py\\n+x\\n*** End Patch"
    )
    script = f"""const r = await tools.exec_command({{cmd: "cat src/b.py > c.py", workdir: "."}});
text(`*** Begin Patch\n*** Delete File: gone.py\n*** End Patch`); await tools.apply_patch("{patch}"); cmd(`rm ${{r}}`)"""
    done(file, "exec", input=script)
    with closing(Session.open(file.path)) as session:
        session.source.tools = CODEX_TOOLS
        made = steps(session, range(len(session)))
        assert [(one.operation.value, one.path) for one in made] == [
            ("read", "src/b.py"),
            ("write", "c.py"),
            ("delete", "gone.py"),
            ("change", "a.py"),
            ("change", "new.py"),
        ]
        assert all(one.inferred for one in made)
        assert replay(session).rebuilt("a.py").certainty is Certainty.UNKNOWN


@pytest.mark.parametrize(
    ("tools", "calls"),
    [
        (
            NATIVE_TOOLS,
            [("grep", {"pattern": "x", "path": "src/../lib"}), ("ls", {}), ("find", {"pattern": "*.py"})],
        ),
        (
            CLAUDE_TOOLS,
            [("Grep", {"pattern": "x", "path": "lib"}), ("LS", {"path": "."}), ("Glob", {"pattern": "*.py"})],
        ),
    ],
)
def test_looking_for_something_is_no_read(
    file: Acting, tools: ToolTable, calls: list[tuple[str, dict[str, str]]]
) -> None:
    for tool, arguments in calls:
        done(file, tool, **arguments)
    file.said(call(calls[0][0], "failed", pattern="y"))
    file.answered("failed", calls[0][0], "no such folder", failed=True)
    with closing(Session.open(file.path)) as session:
        session.source.tools = tools
        assert [(one.path, one.patterns) for one in searched(session)] == [(".", ("*.py",)), ("lib", ("x",))]
        assert working_set(session).read == ()


def test_names_that_differ_by_case_or_accents_are_told(file: Acting) -> None:
    for name in ("A.py", "a.py", "caf\u00e9.py", "cafe\u0301.py", "src/../b.py", "../out.py"):
        done(file, "write", path=name, content=f"{name}\n")
    with reading(file.path) as session:
        compared = sides(session, 0, session.leaf)
        found = compare_files(compared)
        assert {one.path for one in found.only_b if Flag.VARIANT in one.flags} == {
            "A.py",
            "a.py",
            "caf\u00e9.py",
            "cafe\u0301.py",
        }
        assert "b.py" in {one.path for one in found.only_b}
        left_out = dict(patch_of(compared, compared.b).left_out)
    outside = next(name for name in left_out if name.endswith("/out.py"))
    assert "outside" in left_out[outside] or "never" in left_out[outside]


@pytest.mark.parametrize(
    ("one", "other", "word"),
    [("a\0b", "a\0c", "binary"), ("x\n" * 2_100_000, "y\n" * 2_100_000, "huge")],
)
def test_binary_and_huge_files_are_not_compared_line_by_line(
    file: Acting, one: str, other: str, word: str
) -> None:
    begun = done(file, "write", path="a", content="base\n")
    a = done(file, "write", path="a", content=one)
    file.leaf = begun
    b = done(file, "write", path="a", content=other)
    with reading(file.path) as session:
        compared = sides(session, session.find(a), session.find(b))
        found = SideContents(compared).of(compare_files(compared).both[0])
        assert found.obstacle.startswith(word)
        assert found.regions() == []
        assert found.merge in (Merge.CONFLICT, Merge.UNKNOWN)


def test_what_is_appended_behind_an_end_that_is_not_known_is_not_joined_to_the_last_line() -> None:
    state = FileState(text="one\ntwo", newline=False)
    state.appended("three\n")
    assert state.text is None
    assert [(span.first, span.lines) for span in state.spans] == [(1, ("one",))]
    state = FileState(text="one\ntwo\n")
    state.appended("three\n")
    assert state.text == "one\ntwo\nthree\n"


def noticed(transcript: Transcript, *, shown: str) -> None:
    """Claude Code's notice that a file is no more as it last saw it, as 2.1.332 writes it."""
    attachment = {"type": "edited_text_file", "filename": "/home/ada/orchard/a.py", "snippet": shown}
    told = (
        f"<system-reminder>\nNote: a.py changed on disk since you last read it:\n{shown}\n</system-reminder>"
    )
    transcript.row("attachment", attachment=attachment, rendered=[{"content": told}])


def wrote(transcript: Transcript, text: str) -> None:
    transcript.call("Write", "w", file_path="/home/ada/orchard/a.py", content=text)
    transcript.result("w", toolUseResult={"type": "create", "content": text, "structuredPatch": []})


@pytest.mark.parametrize("by_shapes", [True, False])
def test_what_somebody_changed_meanwhile_is_not_known(
    tmp_path: Path, *, by_shapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, by a formatter, or by "Restore code" of `/rewind`, of which Claude Code stores no more than this notice."""
    if not by_shapes:
        monkeypatch.setattr(Rows, "feed", Rows.decode)
    transcript = Transcript(tmp_path)
    transcript.prompt("begin")
    wrote(transcript, "a\nb\n")
    before = transcript.reply("done")
    transcript.prompt("go on")
    noticed(transcript, shown="1\ta")
    transcript.reply("seen")
    session = transcript.opened()
    assert replay(session).rebuilt("a.py").certainty is Certainty.UNKNOWN
    assert [remark for _, remark in replay(session).rebuilt("a.py").remarks] == [StepRemark.CHANGED_OUTSIDE]
    assert replay(session, session.find(before[:8])).rebuilt("a.py").text == "a\nb\n"
    wrote(transcript, "c\n")
    session.refresh()
    assert replay(session).rebuilt("a.py").text == "c\n"
    assert touched(session, session.tree.path(session.leaf)).keys() == {"a.py"}


def missed(transcript: Transcript, prompt: str, *, update: bool = False) -> None:
    """Claude Code's snapshot of the files that it tracks, `a.py` being gone."""
    backups = {
        "a.py": {"backupFileName": None, "version": 2},
        "b.py": {"backupFileName": "5a@v1", "version": 1},
    }
    row = {
        "type": "file-history-snapshot",
        "messageId": prompt,
        "snapshot": {"messageId": prompt, "trackedFileBackups": backups},
        "isSnapshotUpdate": update,
    }
    transcript.raw(json.dumps(row, separators=(",", ":")).encode() + b"\n")


@pytest.mark.parametrize("by_shapes", [True, False])
def test_a_file_that_restore_code_removed_is_gone_from_the_next_prompt_on(
    tmp_path: Path, *, by_shapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_shapes:
        monkeypatch.setattr(Rows, "feed", Rows.decode)
    transcript = Transcript(tmp_path)
    first = transcript.prompt("begin")
    wrote(transcript, "a\n")
    # The update tells of the time ahead of the write.
    missed(transcript, first, update=True)
    before = transcript.reply("done")
    second = transcript.prompt("go on")
    missed(transcript, second)
    transcript.reply("seen")
    session = transcript.opened()
    assert replay(session).rebuilt("a.py").certainty is Certainty.ABSENT
    assert "b.py" not in replay(session).files
    assert replay(session, session.find(before[:8])).rebuilt("a.py").text == "a\n"
    gone, doubt = RecordedFiles(session, session.leaf).then("a.py")
    assert (gone.certainty, doubt) == (Certainty.ABSENT, "")
    third = transcript.prompt("once more")
    missed(transcript, third)
    wrote(transcript, "c\n")
    session.refresh()
    place = session.find(second[:8])
    assert [(step.entry, step.operation) for step in timeline(session, "a.py")][1:2] == [
        (place, FileOperation.DELETE)
    ], "once, though the next prompt misses it too"
    assert len(timeline(session, "a.py")) == 3
    [used] = working_set(session).modified
    assert (used.path, len(used.entries), used.entries[1]) == ("a.py", 3, place)
    assert replay(session).rebuilt("a.py").text == "c\n"
    assert touched(session, session.tree.path(session.leaf)).keys() == {"a.py"}


@pytest.mark.parametrize(("shown", "text"), [("2\tb\n3\tc", "a\nb\nc\n"), ("2\tb\n3\tz", None)])
def test_a_notice_of_what_a_command_did_takes_nothing_away(
    tmp_path: Path, shown: str, text: str | None
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("begin")
    wrote(transcript, "a\nb\n")
    transcript.call("Bash", "b", command="echo c >> a.py")
    transcript.result("b", "")
    transcript.prompt("go on")
    noticed(transcript, shown=shown)
    transcript.reply("seen")
    session = transcript.opened()
    assert replay(session).rebuilt("a.py").text == text
    noticed(transcript, shown=shown)
    session.refresh()
    assert replay(session).rebuilt("a.py").text is None, "nothing of the session explains a second change"
