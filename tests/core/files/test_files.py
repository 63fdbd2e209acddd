"""File operations, working sets, changes and hunks."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from leafward.agents.claude.tools import CLAUDE_TOOLS
from leafward.agents.codex.tools import CODEX_TOOLS
from leafward.agents.opencode.tools import OPENCODE_TOOLS
from leafward.files.edits import DIFF_LINES, delta_of, line_delta
from leafward.files.file_names import locate, within
from leafward.files.tool_calls import NATIVE_TOOLS, FileAction, ToolTable
from leafward.files.working_set import changed_files, operations, working_set
from leafward.session.entries import EntryIndex, Kind, ToolCall, tool_calls
from leafward.session.session import Session
from tests.acting import Acting, call, reading
from tests.call_hunks import call_hunks
from tests.core.linear_time import in_linear_time
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HERE = "/home/ada/orchard"


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


Uses = dict[str, list[EntryIndex]]
Open = Callable[[Acting], Session]


@pytest.fixture
def opened() -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda file: stack.enter_context(reading(file.path))


def used(session: Session, at: int | None = None) -> tuple[Uses, Uses]:
    found = working_set(session, at)
    read, modified = ({use.path: list(use.entries) for use in part} for part in (found.read, found.modified))
    return read, modified


@pytest.mark.parametrize(
    ("path", "folder", "shown"),
    [
        ("src/a.py", HERE, "src/a.py"),
        ("./src//b/../a.py", HERE, "src/a.py"),
        ("@src/a.py", HERE, "src/a.py"),
        (f"{HERE}/src/a.py", HERE, "src/a.py"),
        (f"{HERE}/src/a.py", HERE + "/", "src/a.py"),
        (f"{HERE}2/a.py", HERE, f"{HERE}2/a.py"),
        ("../a.py", HERE, "/home/ada/a.py"),
        ("/etc/hosts", HERE, "/etc/hosts"),
        (HERE, HERE, "."),
        ("~/orchard/a.py", HERE, "a.py"),
        ("~/.config/x", HERE, "~/.config/x"),
        ("~/orchard/a.py", "/srv/work", "~/orchard/a.py"),
        ("a\u202fb.py", HERE, "a b.py"),
        ("a.py", "", "a.py"),
        ("/a.py", "", "/a.py"),
        ("etc/hosts", "/", "etc/hosts"),
        ("C:\\work\\src\\a.py", "C:\\work", "src/a.py"),
        ("src\\a.py", "C:\\work", "src/a.py"),
        ("D:\\a.py", "C:\\work", "D:/a.py"),
        ("c:/Work/Src/a.py", "C:\\work\\", "Src/a.py"),
        ("..\\work\\.\\a.py", "C:\\work", "a.py"),
        ("C:\\work\\a.py", HERE, "C:/work/a.py"),
        ("/private/tmp/work/a.py", "/tmp/work", "a.py"),
        ("/tmp/work/a.py", "/private/tmp/work", "a.py"),
        ("/private/tmp/work", "/tmp/work", "."),
        ("/private/tmp/other/a.py", "/tmp/work", "/tmp/other/a.py"),
        ("/tmp/other/a.py", "/private/tmp/work", "/tmp/other/a.py"),
        ("..", "/private/tmp/work", "/tmp"),
        ("/private/home/a.py", "/home", "/private/home/a.py"),
    ],
)
def test_a_path_is_relative_to_the_folder_it_lies_in(path: str, folder: str, shown: str) -> None:
    assert locate(path, folder, tidy=True) == shown


def test_a_folder_that_is_a_link_is_one_folder_and_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    look = os.path.realpath

    def counted(path: str) -> str:
        asked.append(path)
        return look(path)

    monkeypatch.setattr("os.path.realpath", counted)
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(link)})
    file.user("write it")
    file.said(call("write", "1", path=f"{real}/src/a.py", content="one\n"))
    file.answered("1", "write", "ok")
    for number, place in enumerate(("src/a.py", f"{link}/src/a.py", f"{real}/src/a.py"), 2):
        file.said(call("edit", str(number), path=place, oldText="one", newText="one and one"))
        file.answered(str(number), "edit", "ok")
    with closing(Session.open(file.path)) as session:
        assert [(use.path, len(use.entries)) for use in working_set(session).modified] == [("src/a.py", 4)]
        assert [(one.path, one.edits) for one in changed_files(session, session.tree.path(session.leaf))] == [
            ("src/a.py", 4)
        ]
    assert asked.count(str(link)) == 1
    assert not any("a.py" in one for one in asked)
    assert locate(f"{real}/src/a.py", str(real)) == "src/a.py"
    assert locate(f"{tmp_path}/gone/a.py", f"{tmp_path}/gone") == "a.py"
    assert locate("/a.py", f"{tmp_path}/\0") == "/a.py"


def test_what_sweeps_a_folder_sweeps_it_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "deep/real").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep/real")
    assert within("a.py", f"{tmp_path}/deep", f"{tmp_path}/link")
    assert within("a.py", str(tmp_path), f"{tmp_path}/link")
    assert not within("a.py", f"{tmp_path}/other", f"{tmp_path}/link")
    assert within("a.py", "/tmp", "/private/tmp/work")


def test_only_the_tools_of_pi_tidy_paths() -> None:
    assert locate("@src/a.py", HERE) == "@src/a.py"
    assert locate("a\u202fb.py", HERE) == "a\u202fb.py"
    assert NATIVE_TOOLS.tidies_paths
    assert not any(table.tidies_paths for table in (CLAUDE_TOOLS, CODEX_TOOLS, OPENCODE_TOOLS))


class TestOperations:
    def body(self, *blocks: dict[str, Any], stop: str = "toolUse") -> dict[str, Any]:
        return {"message": {"role": "assistant", "content": list(blocks), "stopReason": stop}}

    def test_names_each_file_with_its_lines(self) -> None:
        body = self.body(
            call("read", "1", path="a"),
            call("write", "2", path="b", content="x\ny\n"),
            call("edit", "3", path="c", oldText="p\nq", newText="p\nr\ns"),
            call(
                "edit",
                "4",
                path="d",
                edits=[{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": ""}],
            ),
            call("bash", "5", command="rm e"),
        )
        found = [(o.call_id, o.path, o.action.value, o.added, o.removed) for o in operations(body)]
        assert found == [
            ("1", "a", "read", 0, 0),
            ("2", "b", "write", 2, 0),
            ("3", "c", "edit", 2, 1),
            ("4", "d", "edit", 1, 2),
        ]

    @pytest.mark.parametrize(
        "arguments",
        [
            {"edits": '[{"oldText":"a","newText":"b\\nc"}]'},
            {"edits": {"oldText": "a", "newText": "b\nc"}},
            {"edits": [], "oldText": "a", "newText": "b\nc"},
        ],
    )
    def test_takes_the_shapes_models_send_edits_in(self, arguments: dict[str, Any]) -> None:
        assert delta_of(FileAction.EDIT, arguments) == (2, 1)

    @pytest.mark.parametrize(
        "arguments",
        [{}, {"edits": "not json"}, {"edits": [None, 3, {"oldText": 5}]}, {"oldText": None, "edits": 7}],
    )
    def test_makes_nothing_of_junk(self, arguments: dict[str, Any]) -> None:
        assert delta_of(FileAction.EDIT, arguments) == (0, 0)
        assert call_hunks(ToolCall("1", "edit", arguments)) == []

    @pytest.mark.parametrize("path", [None, 5, ["a"], ""])
    def test_a_call_without_a_path_is_none(self, path: object) -> None:
        assert operations(self.body(call("read", "1", path=path))) == []

    def test_calls_of_a_reply_that_broke_off_were_never_run(self) -> None:
        assert operations(self.body(call("read", "1", path="a"), stop="aborted")) == []

    def test_an_agent_brings_its_own_tools(self) -> None:
        table = ToolTable(
            {"Edit": FileAction.EDIT}, path=("file_path",), old=("old_string",), new=("new_string",)
        )
        body = self.body(
            call("Edit", "1", file_path="a", old_string="x", new_string=""), call("read", "2", path="b")
        )
        assert [(o.path, o.added, o.removed) for o in operations(body, table)] == [("a", 0, 1)]


class TestWorkingSet:
    def test_modified_files_are_not_listed_as_read(self, file: Acting, opened: Open) -> None:
        file.user("go")
        file.said(call("read", "1", path="b.py"), call("read", "2", path=f"{HERE}/a.py"))
        file.answered("1", "read")
        file.answered("2", "read")
        file.said(
            call("edit", "3", path="a.py", oldText="x", newText="y"), call("read", "4", path="/etc/hosts")
        )
        file.answered("3", "edit")
        read, modified = used(opened(file))
        assert read == {"/etc/hosts": [4], "b.py": [1]}
        assert modified == {"a.py": [4]}

    def test_follows_the_path_to_the_entry_asked_for(self, file: Acting, opened: Open) -> None:
        root = file.user("go")
        file.said(call("write", "1", path="one.py", content="1"))
        file.said(call("write", "2", path="two.py", content="2"), parent=root)
        session = opened(file)
        assert used(session)[1] == {"two.py": [2]}
        assert used(session, 1)[1] == {"one.py": [1]}
        assert used(session, 0) == ({}, {})
        assert used(session, -1) == ({}, {})

    def test_a_failed_call_drops_out_where_its_result_is_on_the_path(
        self, file: Acting, opened: Open
    ) -> None:
        file.user("go")
        reply = file.said(call("edit", "1", path="a.py", oldText="x", newText="y"))
        file.answered("1", "edit", failed=True)
        file.answered("1", "edit", parent=reply)
        session = opened(file)
        assert used(session, 2) == ({}, {})
        assert used(session, 3)[1] == {"a.py": [1]}
        assert used(session, 1)[1] == {"a.py": [1]}, "what became of it is not known there"

    def test_a_result_answers_the_latest_call_of_its_id(self, file: Acting, opened: Open) -> None:
        file.user("go")
        for path in ("a.py", "b.py"):
            file.said(call("read", "call_0", path=path))
            file.answered("call_0", "read", failed=path == "b.py")
        assert list(used(opened(file))[0]) == ["a.py"]

    def test_calls_that_a_tool_made_count_but_for_those_that_failed(self, file: Acting, opened: Open) -> None:
        file.user("go")
        file.said(call("codemode", "1", script="…"))
        made = [
            {"id": "1/1", "name": "write", "arguments": {"path": "a", "content": "x\n"}, "status": "ok"},
            {"id": "1/2", "name": "read", "arguments": {"path": "b"}, "status": "error"},
            {"id": "1/3", "name": "read", "status": "ok"},
        ]
        file.answered("1", "codemode", nestedCalls={"calls": made, "complete": True})
        session = opened(file)
        assert used(session) == ({}, {"a": [2]})
        assert [(c.path, c.added) for c in changed_files(session, range(3))] == [("a", 1)]

    def test_paths_sort_as_javascript_sorts_them(self, file: Acting, opened: Open) -> None:
        file.user("go")
        file.said(*(call("read", str(n), path=p) for n, p in enumerate(("\uff5e", "\U0001f333", "b", "B"))))
        assert list(used(opened(file))[0]) == ["B", "b", "\U0001f333", "\uff5e"]


class TestChangedFiles:
    def test_sums_edits_by_file_the_most_edited_first(self, file: Acting, opened: Open) -> None:
        file.user("go")
        file.said(
            call("write", "1", path="new.py", content="1\n2\n3\n"),
            call("edit", "2", path=f"{HERE}/a.py", oldText="x", newText="y\nz"),
            call("edit", "3", path="a.py", oldText="x", newText="y"),
            call("edit", "4", path="lost.py", oldText="x", newText="y"),
        )
        file.answered("2", "edit", diff=" 1 a\n-2 x\n+2 y\n+3 z\n+4 z")
        file.answered("4", "edit", failed=True)
        found = [(c.path, c.edits, c.added, c.removed) for c in changed_files(opened(file), range(4))]
        assert found == [("a.py", 2, 4, 2), ("new.py", 1, 3, 0)]


class TestHunks:
    def shown(self, *args: Any, **named: Any) -> list[list[tuple[str, int, str]]]:
        return [[(x.sign, x.number, x.text) for x in hunk.lines] for hunk in call_hunks(*args, **named)]

    def test_without_a_result_each_replacement_is_compared(self) -> None:
        edits = [{"oldText": "a\nb\nc", "newText": "a\nB\nc"}, {"oldText": "x", "newText": ""}]
        edit = ToolCall("1", "edit", {"path": "a", "edits": edits})
        assert self.shown(edit) == [
            [(" ", 1, "a"), ("-", 2, "b"), ("+", 2, "B"), (" ", 3, "c")],
            [("-", 1, "x")],
        ]
        assert not call_hunks(edit)[0].exact

    def test_the_diff_in_the_result_knows_the_lines(self) -> None:
        diff = "     ...\n   9 before\n- 10 old\n+ 10 new\n  11 \n     ...\n+200  ...\n"
        result = {"message": {"role": "toolResult", "details": {"diff": diff}}}
        edit = ToolCall("1", "edit", {"path": "a", "oldText": "old", "newText": "new"})
        assert self.shown(edit, result) == [
            [(" ", 9, "before"), ("-", 10, "old"), ("+", 10, "new"), (" ", 11, "")],
            [("+", 200, " ...")],
        ]
        assert all(hunk.exact for hunk in call_hunks(edit, result))

    def test_a_write_is_all_new_and_a_read_is_nothing(self) -> None:
        assert self.shown(ToolCall("1", "write", {"path": "a", "content": "a\n\nb\n"})) == [
            [("+", 1, "a"), ("+", 2, ""), ("+", 3, "b")]
        ]
        assert call_hunks(ToolCall("1", "read", {"path": "a"})) == []

    def test_the_number_of_lines_is_bounded(self) -> None:
        (hunk,) = call_hunks(ToolCall("1", "write", {"path": "a", "content": "x\n" * 5000}))
        assert (len(hunk.lines), hunk.omitted) == (DIFF_LINES, 5000 - DIFF_LINES)

    @pytest.mark.parametrize("size", [900, 60_000])
    def test_texts_that_repeat_themselves_do_not_hang(self, size: int) -> None:
        old, new = "a\nb\n" * size, "b\nb\na\n" * size
        with in_linear_time():
            added, removed = line_delta(old, new)
        assert added - removed == size


def test_counts_agree_with_the_diffs_pi_made(corpora: Path) -> None:
    """Where pi's result holds the real diff, the arguments alone give nearly always the same lines."""
    same = total = 0
    for name in ("branched", "before-compaction", "large-session"):
        asked: dict[str, ToolCall] = {}
        for line in (corpora / "pi" / f"{name}.jsonl").read_bytes().splitlines():
            body = orjson.loads(line)
            message = body.get("message") or {}
            if message.get("role") == "assistant":
                asked.update((one.id, one) for one in tool_calls(message))
            elif message.get("toolName") == "edit" and not message["isError"]:
                edit = asked[message["toolCallId"]]
                shown = call_hunks(edit, body)
                assert shown, "every diff pi wrote is understood"
                signs = [line.sign for hunk in shown for line in hunk.lines]
                total += 1
                same += delta_of(FileAction.EDIT, edit.arguments) == (signs.count("+"), signs.count("-"))
    assert total > 300
    assert same / total > 0.95


@pytest.mark.parametrize("name", ["branched", "branched-compacted", "large-session"])
def test_working_sets_of_real_sessions_hold_what_their_calls_name(corpora: Path, name: str) -> None:
    with reading(corpora / "pi" / f"{name}.jsonl") as session:
        for leaf in session.tree.leaves():
            found = working_set(session, leaf)
            modified = {use.path for use in found.modified}
            assert not modified & {use.path for use in found.read}
            path = session.tree.path(leaf)
            for use in (*found.read, *found.modified):
                assert use.entries
                assert set(path).issuperset(use.entries)
                assert all(session.columns.kind[entry] == Kind.ASSISTANT for entry in use.entries)
            assert {change.path for change in changed_files(session, path)} == modified


def test_the_native_table_is_what_pi_names_its_tools() -> None:
    assert {name: str(action) for name, action in NATIVE_TOOLS.actions.items()} == {
        "read": "read",
        "write": "write",
        "edit": "edit",
    }
