"""One line of an entry: the words that matter, whatever the entry holds."""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.session.entries import ENTRY_TYPES, MESSAGE_ROLES, Body, ToolCall
from leafward.session.headlines.entry_headline import (
    LIMIT,
    Headline,
    call_headline,
    call_words,
    headline,
    turn_entry,
)
from leafward.session.session import Session
from tests.acting import Acting, call
from tests.pi_file import PiFile


def last(file: PiFile) -> Headline:
    with closing(Session.open(file.path)) as session:
        return headline(session, len(session) - 1)


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    made = Acting(tmp_path / "session.jsonl")
    made.user("start")
    return made


class TestCalls:
    def test_a_reply_is_decoded_once_for_all_its_results(
        self, file: Acting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reply = file.said(*(call("bash", f"c{number}", command=f"ls {number}") for number in range(100)))
        for number in range(100):
            file.answered(f"c{number}", "bash", "fine", parent=reply)
        read: list[int] = []
        really = Session.body

        def counted(self: Session, index: int) -> Body | None:
            read.append(index)
            return really(self, index)

        monkeypatch.setattr(Session, "body", counted)
        with closing(Session.open(file.path)) as session:
            words = [headline(session, index).text for index in range(len(session) - 100, len(session))]
        assert words == [f"ls {number}" for number in range(100)]
        assert len(read) == 101

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"path": "src/a.py"}, "src/a.py"),
            ({"path": "src/a.py", "offset": 10}, "src/a.py:10"),
            ({"path": "src/a.py", "offset": 10, "limit": 5}, "src/a.py:10-14"),
            ({"path": "src", "pattern": "def "}, "def in src"),
            ({"path": "/work/p", "pattern": "*.py"}, "*.py"),
            ({"path": "/work/p"}, "."),
            ({"path": "/work/p/src/a.py", "offset": 3}, "src/a.py:3"),
            ({"file_path": "/work/pool/a.py"}, "/work/pool/a.py"),
            ({"pattern": "x", "path": "/work/p/src"}, "x in src"),
            ({"command": "cd /work/p && make test"}, "make test"),
            ({"cmd": "cd 'a b' && cd c; ls"}, "ls"),
            ({"command": ["bash", "-lc", "cd /work/p\n# all of it\nmake"]}, "# all of it make"),
            ({"command": "cd /work/p"}, "cd /work/p"),
            ({"command": "cat /work/p/.git '/work/p/a b.py' /work/pear/x"}, "cat .git 'a b.py' /work/pear/x"),
            (
                {"command": "diff --to=/work/p/a.py /work/p/b.py; ls /work/p"},
                "diff --to=a.py b.py; ls /work/p",
            ),
            ({"command": "curl https://work/p/a"}, "curl https://work/p/a"),
            ({"command": "cd /work/p || exit"}, "cd /work/p || exit"),
            ({"command": "cd $(git root) && ls"}, "cd $(git root) && ls"),
            ({"command": "cdrecord && ls"}, "cdrecord && ls"),
            ({"taskId": "2", "status": "in_progress"}, "#2 in progress"),
            ({"taskId": "2"}, "#2"),
            ({"taskId": "2", "addBlockedBy": ["1", "3"]}, "#2 waits for #1, #3"),
            ({"status": "pending", "addBlocks": ["4"], "taskId": "2"}, "#2 pending, blocks #4"),
            ({"taskId": "2", "subject": "Prune", "owner": "ada"}, "#2 owner ada: Prune"),
            (
                {
                    "todos": [
                        {"content": "one", "status": "completed"},
                        {"content": "two", "status": "pending"},
                    ]
                },
                "1 of 2 done, next: two",
            ),
            (
                {"plan": [{"step": "a", "status": "pending"}, {"step": "b", "status": "in_progress"}]},
                "0 of 2 done, now: b",
            ),
            ({"todos": [{"content": "one", "status": "completed"}]}, "1 of 1 done"),
            ({"todos": []}, "0 of 0 done"),
            (
                {"input": "*** Begin Patch\n*** Update File: /work/p/a.py\n@@\n-x\n*** Add File: b.py\n+y\n"},
                "a.py and 1 more",
            ),
            ({"session_id": 7, "chars": ""}, "session_id 7"),
            ({"content": "x", "file_path": "b.py"}, "b.py"),
            ({"timeout": 5, "command": "make test"}, "make test"),
            ({"command": "one\n\ttwo"}, "one two"),
            ({"query": "words"}, "words"),
            ({"n": 1, "anything": "else"}, "else"),
            ({"path": ""}, ""),
            ({"path": 7, "command": ["x"]}, "x"),
            ({"command": ["bash", "-lc", "make test"]}, "make test"),
            ({"path": 7, "command": {}}, "path 7"),
            ({}, ""),
        ],
    )
    def test_say_what_they_are_about(self, arguments: dict[str, Any], words: str) -> None:
        assert call_headline(ToolCall("c", "tool", arguments), "/work/p").text == words

    def test_are_copied_as_they_are(self) -> None:
        assert call_words(ToolCall("c", "bash", {"command": "cd a && make"})) == "cd a && make"
        assert call_words(ToolCall("c", "read", {"path": "/work/p/a.py", "offset": 3})) == "/work/p/a.py:3"
        assert call_words(ToolCall("c", "todo", {"taskId": "1", "status": "done"})) == "#1 done"

    def test_an_item_whose_id_is_half_a_character(self, file: Acting) -> None:
        file.raw(
            '{"type":"message","id":"00000009","parentId":"00000001","timestamp":"2026-11-21T21:18:10.175Z","message":'
            '{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"TaskUpdate","arguments":'
            '{"taskId":"\\ud800","status":"done"}}]}}'
        )
        assert last(file) == Headline("TaskUpdate", "#\N{REPLACEMENT CHARACTER} done")

    def test_name_the_item_of_a_plan_that_is_kept_by_a_tool(self) -> None:
        made = {"description": "All of the rows", "subject": "Prune the rows", "activeForm": "Pruning"}
        assert call_words(ToolCall("c", "TaskCreate", made)) == "Prune the rows"
        added = {"action": "add", "text": "Prune the rows"}
        assert call_words(ToolCall("c", "todo", added)) == "add: Prune the rows"
        assert call_words(ToolCall("c", "todo", {"action": "toggle", "id": 3})) == "toggle #3"

    @pytest.mark.parametrize(
        ("width", "words"),
        [
            (99, "def in src/leafward/core/session/headline.py"),
            (30, "def in src/…/headline.py"),
            (20, "def in …/headline.py"),
            (9, "def in headline.py"),
        ],
    )
    def test_leave_out_the_middle_of_a_path(self, width: int, words: str) -> None:
        arguments = {"path": "/work/p/src/leafward/core/session/headline.py", "pattern": "def"}
        assert call_headline(ToolCall("c", "grep", arguments), "/work/p").within(width, len) == words

    @pytest.mark.parametrize(
        ("width", "words"),
        [
            (99, "sed -n '1,260p' src/toolset/core/builder.rs && git diff -- docs/a.md"),
            (62, "sed -n '1,260p' src/…/core/builder.rs && git diff -- docs/a.md"),
            (40, "sed -n '1,260p' builder.rs && git diff -- docs/a.md"),
        ],
    )
    def test_leave_out_the_middle_of_the_longest_path_in_a_command(self, width: int, words: str) -> None:
        """It fails where commands that differ in the names of files alone look the same."""
        arguments = {
            "command": "sed -n '1,260p' /work/p/src/toolset/core/builder.rs && git diff -- docs/a.md"
        }
        assert call_headline(ToolCall("c", "bash", arguments), "/work/p").within(width, len) == words

    def test_a_silent_reply_is_its_first_call(self, file: Acting) -> None:
        file.said(
            call("read", "1", path="a.py"), call("bash", "2", command="ls"), call("bash", "3", command="pwd")
        )
        assert last(file) == Headline("read", "a.py  and 2 more", "a.py")

    def test_a_result_is_what_its_call_asked_for(self, file: Acting) -> None:
        file.said(call("read", "1", path="a.py"), call("bash", "2", command="ls -l"))
        file.answered("1", "read")
        file.answered("2", "bash")
        assert last(file) == Headline("bash", "ls -l")

    def test_a_result_is_not_that_of_another_branch(self, file: Acting) -> None:
        start = file.leaf
        file.said(call("bash", "1", command="there"))
        file.said(call("bash", "1", command="here"), parent=start)
        file.answered("1", "bash", "came")
        assert last(file) == Headline("bash", "here")

    def test_a_result_without_its_call_is_what_it_says(self, file: Acting) -> None:
        file.answered("nobody", "bash", "some\noutput")
        assert last(file) == Headline("bash", "some output")

    def test_a_call_far_above_is_not_looked_for(self, file: Acting) -> None:
        file.said(call("bash", "1", command="long ago"))
        for number in range(100):
            file.said(f"waiting {number}")
        file.answered("1", "bash", "came")
        assert last(file) == Headline("bash", "came")

    def test_what_only_keeps_books_makes_none_far(self, file: Acting) -> None:
        file.said(call("bash", "1", command="long ago"))
        for number in range(100):
            file.entry("custom", customType="tick", data=number)
        file.answered("1", "bash", "came")
        assert last(file) == Headline("bash", "long ago")


class TestMessages:
    @pytest.mark.parametrize(
        ("message", "expected"),
        [
            ({"role": "user", "content": "hello\n  there"}, Headline("you", "hello there")),
            (
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                Headline("you", "a b"),
            ),
            (
                {"role": "user", "content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
                Headline("you", "[image]"),
            ),
            ({"role": "user", "content": ""}, Headline("you", "(empty)")),
            ({"role": "user", "content": None}, Headline("you", "(empty)")),
            ({"role": "assistant", "content": "sure"}, Headline("ai", "sure")),
            (
                {"role": "assistant", "content": "| File | Lines |\n|---|:--:|\n| a.py | **12** |\n"},
                Headline("ai", "File, Lines a.py, 12"),
            ),
            (
                {"role": "assistant", "content": "## Done\n\n```sh\nls | wc -l\n```\n2 ** 3 # not a head"},
                Headline("ai", "Done ls | wc -l 2 ** 3 # not a head"),
            ),
            ({"role": "user", "content": "| a | b |"}, Headline("you", "| a | b |")),
            ({"role": "assistant", "content": []}, Headline("ai", "(no text)")),
            ({"role": "assistant", "content": None, "stopReason": "aborted"}, Headline("ai", "(aborted)")),
            (
                {
                    "role": "assistant",
                    "content": [],
                    "stopReason": "error",
                    "errorMessage": "overloaded\n503",
                },
                Headline("ai", "(error)  overloaded 503"),
            ),
            (
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm"}],
                    "stopReason": "stop",
                },
                Headline("ai", "(no text)"),
            ),
            ({"role": "bashExecution", "command": "make\ncheck"}, Headline("!", "make check")),
            ({"role": "bashExecution"}, Headline("!", "")),
            ({"role": "system", "content": ""}, Headline("sys", "system prompt")),
            ({"role": "system", "content": "Be brief."}, Headline("sys", "system prompt: Be brief.")),
            ({"role": "custom", "content": "note"}, Headline("extension", "note")),
            ({"role": "critic", "content": "meh"}, Headline("other", "meh")),
        ],
    )
    def test_of_each_role(self, message: dict[str, Any], expected: Headline, file: Acting) -> None:
        file.entry("message", message=message)
        assert last(file) == expected

    @pytest.mark.parametrize("message", ["text", 7, ["role"], None, True])
    def test_that_are_no_objects(self, message: object, file: Acting) -> None:
        file.entry("message", message=message)
        assert last(file).word == "other"


class TestOtherEntries:
    @pytest.mark.parametrize(
        ("type_", "fields", "expected"),
        [
            ("compaction", {"summary": "s"}, Headline("sum", "compaction")),
            ("branch_summary", {"fromId": "root", "summary": "s"}, Headline("sum", "branch summary")),
            ("custom_message", {"customType": "x", "content": "said"}, Headline("extension", "said")),
            ("custom_message", {"customType": "x", "content": ""}, Headline("extension", "x")),
            ("custom", {"customType": "git.snapshot", "data": {}}, Headline("note", "git.snapshot")),
            ("model_change", {"provider": "p", "modelId": "m"}, Headline("model", "p/m")),
            ("thinking_level_change", {"thinkingLevel": "high"}, Headline("think", "high")),
            ("label", {"targetId": "00000001", "label": "here"}, Headline("label", "here")),
            ("label", {"targetId": "00000001"}, Headline("label", "removed")),
            ("session_info", {"name": "named"}, Headline("name", "named")),
            ("usage", {"kind": "title", "model": "m"}, Headline("usage", "title, m")),
            ("context_edit", {"targetId": "00000001", "replacement": None}, Headline("edit", "omits  start")),
            (
                "context_edit",
                {"targetId": "00000001", "replacement": {"content": "x"}},
                Headline("edit", "replaces  start"),
            ),
            (
                "context_edit",
                {"targetId": "ffffffff", "replacement": None},
                Headline("edit", "omits  an entry that is not here"),
            ),
            ("hologram", {"beam": 1}, Headline("other", "hologram")),
        ],
    )
    def test_of_each_type(self, type_: str, fields: dict[str, Any], expected: Headline, file: Acting) -> None:
        file.entry(type_, **fields)
        assert last(file) == expected

    def test_a_branch_summary_counts_the_entries_it_stands_for(self, file: Acting) -> None:
        start = file.leaf
        file.reply("one")
        file.entry("label", targetId=start, label="books do not count")
        left = file.user("two")
        file.entry("branch_summary", start, fromId=left, summary="s")
        assert last(file).text == "branch summary   of 2 messages"
        start = file.leaf
        left = file.user("three")
        file.entry("branch_summary", start, fromId=left, summary="s")
        assert last(file).text == "branch summary   of 1 message"

    def test_edits_of_edits_are_not_followed(self, file: Acting) -> None:
        file.entry("context_edit", targetId="00000002", replacement=None)
        file.entry("context_edit", targetId="00000002", replacement=None)
        assert last(file).text == "omits  another edit"

    def test_what_stands_in_tags_is_called_by_them(self, file: Acting) -> None:
        text = "<task-notification><id>7</id> <status>done</status></task-notification>"
        file.entry("custom_message", customType="claude.task-notification", content=text, display=True)
        assert last(file).text == "task notification: 7 done"
        text = '<task-notification><id>7</id><summary>Agent "look" finished</summary><note>again</note></task-notification>'
        file.entry("custom_message", customType="claude.task-notification", content=text, display=True)
        assert last(file).text == 'task notification: Agent "look" finished'
        file.entry("custom_message", customType="mine.note", content="a < b > c", display=True)
        assert last(file).text == "a < b > c"

    def test_damage_says_where_it_lies(self, file: Acting) -> None:
        offset = file.path.stat().st_size
        file.raw("{nonsense")
        assert last(file) == Headline(
            "damage", f"malformed  the line is not a JSON object, at byte {offset:,}"
        )


class TestSafety:
    HOSTILE = "\x1b]0;owned\x07\x1b[31m[bold]red[/bold]\u202egnp\u2028\x00\u200b\ud800" + "long " * 2000

    def safe(self, found: Headline) -> None:
        for text in (found.word, found.text):
            assert len(text) <= LIMIT + 80
            assert "\n" not in text
            assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in text)
            assert not any(letter in "\u202e\u2028\u200b\ud800" for letter in text)

    @pytest.mark.parametrize("role", [*MESSAGE_ROLES, "critic"])
    def test_no_message_can_act_on_a_terminal(self, role: str, tmp_path: Path) -> None:
        file = Acting(tmp_path / "hostile.jsonl")
        file.said(call(self.HOSTILE.replace("\ud800", ""), "1", path=self.HOSTILE.replace("\ud800", "")))
        message = {"role": role, "content": self.HOSTILE, "toolName": self.HOSTILE, "command": self.HOSTILE}
        file.raw(
            json.dumps({"type": "message", "id": "0000000f", "parentId": "00000001", "message": message})
        )
        with closing(Session.open(file.path)) as session:
            for index in range(len(session)):
                self.safe(headline(session, index))

    @pytest.mark.parametrize("type_", [*(name for name in ENTRY_TYPES if name != "session"), "hologram"])
    def test_nor_any_other_entry(self, type_: str, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "hostile.jsonl")
        fields = dict.fromkeys(
            (
                "summary",
                "content",
                "customType",
                "provider",
                "modelId",
                "thinkingLevel",
                "label",
                "name",
                "kind",
                "model",
            ),
            self.HOSTILE,
        )
        file.raw(
            json.dumps(
                {"type": type_, "id": "00000001", "parentId": None, "targetId": self.HOSTILE, **fields}
            )
        )
        self.safe(last(file))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("type", "text", "role", "content", "id", "name", "arguments", "path", "offset")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
FIELDS = (
    "message",
    "content",
    "summary",
    "fromId",
    "targetId",
    "replacement",
    "label",
    "name",
    "customType",
    "data",
)


@given(
    st.sampled_from((*(name for name in ENTRY_TYPES if name != "session"), "message", "hologram")),
    st.dictionaries(st.sampled_from(FIELDS), JUNK, max_size=5),
    st.dictionaries(
        st.sampled_from(("content", "toolCallId", "toolName", "command", "stopReason", "errorMessage")),
        JUNK,
        max_size=4,
    ),
    st.sampled_from((*MESSAGE_ROLES, "critic", None)),
)
def test_no_junk_breaks_it(
    type_: str, fields: dict[str, Any], message: dict[str, Any], role: str | None
) -> None:
    if role is not None:
        fields = {**fields, "message": {"role": role, **message}}
    with tempfile.TemporaryDirectory() as folder:
        file = PiFile(Path(folder) / "junk.jsonl")
        file.user("start")
        file.raw(json.dumps({"type": type_, "id": "0000000f", "parentId": "00000001", **fields}))
        found = last(file)
    assert isinstance(found.text, str)
    assert found.word


def test_an_entry_is_known_by_its_turn_and_on_a_branch_of_one_by_what_is_its_own(file: Acting) -> None:
    asked = file.said("which one?")
    file.said("the left one")
    left = file.said("done")
    file.said("the right one", parent=asked)
    right = file.said("done as well")
    with closing(Session.open(file.path)) as session:
        index = session.columns.index

        def words(at: str, above: int = -1) -> str:
            return headline(session, turn_entry(session, index(at), above)).text

        assert words(left) == words(right) == "start"
        assert words(left, index(asked)) == "the left one"
        assert words(right, index(asked)) == "the right one"
        assert turn_entry(session, -1) == -1
