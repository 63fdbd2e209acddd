from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.base.config import Config
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal import session_operations
from leafward_tui.inspector.model.pages import build
from leafward_tui.inspector.page import Selection, SelectionKind
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from tests.claude_transcript import Transcript
from tests.pi_file import PiFile
from tests.tui.inspector_data import (
    call,
    line_with,
    opened,
    page,
    reply,
    result,
    single,
    thinking,
    turn,
    user,
    write_session,
)

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

DIFF = "   26   context\n-  27   // Markdown (9 colors)\n+  27   // Markdown (10 colors)\n   28   heading,\n     ..."


@pytest.fixture
def work(tmp_path: Path) -> Session:
    """A turn with everything: remarks, thoughts, edits, commands, a read."""
    return write_session(
        tmp_path / "work.jsonl",
        user("yes, in **old** pi"),
        reply(
            "I look first.",
            thinking("one\ntwo\nthree"),
            call("read", "c1", path="src/theme.ts", offset=1, limit=80),
        ),
        result("read", "c1", "a\nb\nc"),
        reply(
            call("edit", "c2", path="/p/src/theme.ts", oldText="x", newText="y"),
            call("bash", "c3", command="npm run check"),
            call("bash", "c4", command="false"),
        ),
        result("edit", "c2", "done", details={"diff": DIFF}),
        result("bash", "c3", "1\n2\n3"),
        result("bash", "c4", "oops\n\nCommand exited with code 1", error=True),
        reply("Perfect! Now the theme supports it.\n\n- `mdLink`\n- b"),
    )


def test_a_copied_turn_has_the_time_of_its_messages(tmp_path: Path) -> None:
    """A copy stamps its entries anew; the list of sessions takes the messages' own time too."""
    file = PiFile(tmp_path / "s.jsonl")
    told = {"role": "user", "content": "begin", "timestamp": 1_750_000_000_000}
    file.entry("message", message=told)
    first = page(turn(opened(file.path), number=1)).text.split("\n")[1]
    assert "15 Jun" in first or "16 Jun" in first, first


def test_the_order_of_a_turn_is_always_the_same(work: Session) -> None:
    text = page(turn(work)).text.split("\n")
    assert text[0] == ""
    assert text[1].startswith("Turn 1  on the path")
    assert text[1].endswith("21 Nov 15:48   #0 – #7")
    assert text[2].startswith("claude-sonnet-4-5   8 entries   4 calls")
    assert text[2].endswith("$0.93")
    said = [
        at for at, line in enumerate(text) if line.startswith(("you  ", "ai   ", "Changed", "Ran", "Other"))
    ]
    assert [text[at].split()[0] for at in said] == ["you", "ai", "Changed", "Ran", "Other"]
    assert text[line_with(page(turn(work)), "Changed")].split() == ["Changed", "1", "file", "edits", "+", "−"]


def test_a_row_that_begins_amid_a_turn_is_its_continuation(work: Session) -> None:
    text = page(turn(work, 1)).text.split("\n")
    assert text[1].startswith("Turn 1, continued  on the path")


@pytest.mark.parametrize("width", [18, 24, 32, 40, 46, 60, 90])
def test_facts_at_the_head_are_whole_or_not_there(work: Session, width: int) -> None:
    head = [line.text for line in page(turn(work), width=width).lines[1:3]]
    assert not [text for text in head if "…" in text]
    assert head[0].startswith("Turn 1")
    # The calls stay longer than the entries, which the foot of the screen says too.
    assert ("calls" in head[1]) == (width >= 46), head
    assert ("entries" in head[1]) == (width >= 60), head


def test_a_command_is_listed_without_its_change_of_folder_and_opened_whole(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply("", call("bash", "1", command="cd /work/p && make"), call("bash", "2", command="ls")),
        result("bash", "1", "ok"),
        result("bash", "2", "ok"),
    )
    shown = page(turn(session))
    at = line_with(shown, "$ make")
    assert shown.lines[at].copy == "cd /work/p && make"
    assert "cd /work/p && make" in page(turn(session), toggled={shown.lines[at].toggle}).text


def test_what_you_said_is_bold_and_the_reply_is_not(work: Session) -> None:
    shown = page(turn(work))
    mine = shown.lines[line_with(shown, "yes, in old pi")]
    assert {span.ink for span in mine.spans if "pi" in span.text or "old" in span.text} == {"strong"}
    theirs = shown.lines[line_with(shown, "Perfect!")]
    assert theirs.spans[-1].ink == "text"


def test_thoughts_and_remarks_are_one_line_until_opened(work: Session) -> None:
    shown = page(turn(work))
    assert "thinking, 3 lines" in shown.text
    assert "1 interim reply" in shown.text
    assert "I look first." not in shown.text
    key = shown.lines[line_with(shown, "thinking,")].toggle
    opened = page(turn(work), toggled={key, "remarks"})
    assert "three" in opened.text
    assert "I look first." in opened.text
    assert opened.lines[line_with(opened, "in #1")].entry == 1


def test_the_first_changed_file_is_an_open_diff(work: Session) -> None:
    shown = page(turn(work))
    file = shown.lines[line_with(shown, "theme.ts")]
    assert file.text.split() == ["▾", "src/theme.ts", "1", "+1", "−1"]
    assert [(span.text, span.ink) for span in file.spans[1:3]] == [("src/", "faint"), ("theme.ts", "text")]
    removed, added = (shown.lines[line_with(shown, words)] for words in ("(9 colors)", "(10 colors)"))
    assert removed.text.split()[:2] == ["27", "−"]
    assert added.text.split()[:2] == ["27", "+"]
    assert {span.ground for span in removed.spans[1:]} == {"bad_tint"}
    assert {span.ground for span in added.spans[1:]} == {"leaf_tint"}
    assert sum(cell_len(span.text) for span in added.spans) == 60
    closed = page(turn(work), toggled={file.toggle})
    assert "(9 colors)" not in closed.text


def test_commands_say_how_they_ended_and_open_to_their_output(work: Session) -> None:
    shown = page(turn(work))
    assert shown.lines[line_with(shown, "Ran")].text.endswith("1 failed")
    passed, failed = shown.lines[line_with(shown, "npm run")], shown.lines[line_with(shown, "$ false")]
    assert passed.text.endswith("3 lines")
    assert failed.text.endswith("× exit 1")
    assert failed.spans[-1].ink == "bad"
    assert "oops" not in shown.text
    opened = page(turn(work), toggled={failed.toggle})
    assert "    oops" in opened.text
    assert opened.lines[line_with(opened, "in #6")].entry == 6


def test_other_calls_stand_with_what_they_are_about(work: Session) -> None:
    shown = page(turn(work))
    read = shown.lines[line_with(shown, "  read")]
    assert read.text.split() == ["read", "src/theme.ts:1-80", "3", "lines"]
    opened = page(turn(work), toggled={read.toggle})
    assert line_with(opened, "    b") > line_with(opened, "  read")


def test_a_call_that_names_an_item_of_the_plan_by_its_id_stands_with_its_words(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "plan.jsonl",
        user("prune the orchard"),
        reply(
            call("TaskCreate", "c1", subject="Write the rows", description="all"),
            call("TaskCreate", "c2", subject="Count the rows", description="all"),
        ),
        result("TaskCreate", "c2", "Task #1 created successfully: Count the rows"),
        result("TaskCreate", "c1", "Task #2 created successfully: Write the rows"),
        reply(
            call("TaskUpdate", "c3", taskId="2", status="completed"),
            call("TaskUpdate", "c4", taskId="7", status="completed"),
            call("TaskUpdate", "c5", taskId="1", subject="Count all rows"),
        ),
        result("TaskUpdate", "c3", "Updated task #2 status"),
        result("TaskUpdate", "c4", "Task not found"),
        result("TaskUpdate", "c5", "Updated task #1 subject"),
    )
    lines = [line for line in page(turn(session)).text.split("\n") if "TaskUpdate" in line]
    assert [" ".join(line.split()[:-2]) for line in lines] == [
        "TaskUpdate #2 completed Write the rows",
        "TaskUpdate #7 completed",
        "TaskUpdate #1: Count all rows",
    ]


def test_a_result_alone_finds_its_call(work: Session) -> None:
    edit = page(single(work, 4)).text
    assert edit.split("\n")[1].startswith("Result of edit  turn 1")
    assert "(10 colors)" in edit
    command = page(single(work, 6)).text
    assert "$ false" in command
    assert "oops" in command


def test_a_reply_alone_finds_its_results(work: Session) -> None:
    shown = page(single(work, 3)).text
    assert "× exit 1" in shown
    assert "no result" not in shown


def test_the_row_of_one_of_several_calls_finds_the_other_results(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(call("read", "c1", path="a.py"), call("bash", "c2", command="make")),
        result("read", "c1", "one"),
        {"type": "custom", "customType": "other"},
        result("bash", "c2", "two"),
    )
    # A row by entry: the reply and the result that follows it.
    pair = Selection(session, (range(1, 3),), 2, SelectionKind.ENTRY, 1, on_path=True)
    text = page(pair).text
    assert "without a result" not in text
    assert "Ran" in text
    assert "passed" in text


def test_results_on_another_branch_are_found_for_a_row(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(call("bash", "c1", command="one"), call("bash", "c2", command="two")),
        {**result("bash", "c1", "one"), "id": "0000aaaa"},
        {**user("gone elsewhere"), "parentId": "0000aaaa"},
        {**result("bash", "c2", "two"), "parentId": "0000aaaa"},
    )
    text = page(Selection(session, (range(1, 3),), 2, SelectionKind.ENTRY, 1, on_path=True)).text
    assert "2 commands" in text
    assert "without a result" not in text


def test_a_traceback_keeps_its_shape_where_it_is_wrapped(tmp_path: Path) -> None:
    frame = '  File "/home/ada/orchard/' + "long/" * 20 + 'store.py", line 3, in claim'
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(call("bash", "c1", command="python x.py")),
        result(
            "bash", "c1", f"Traceback (most recent call last):\n{frame}\n    raise Busy\nBusy", error=True
        ),
    )
    shown = [line.text for line in page(single(session, 2), width=60).lines]
    at = next(at for at, line in enumerate(shown) if "File" in line)
    first, second = shown[at : at + 2]
    assert len(second) - len(second.lstrip()) == len(first) - len(first.lstrip()) + 2


def test_a_call_without_a_result_says_so(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(call("bash", "c1", command="sleep 9")),
        reply(call("grep", "c2"), stop="aborted"),
    )
    text = page(turn(session)).text
    assert "1 without a result" in text
    assert "no result" in text
    assert "not run" in text
    assert "× aborted" in text


def test_a_failed_edit_is_a_call_and_no_change(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(call("edit", "c1", path="a.py", oldText="x", newText="y")),
        result("edit", "c1", "no such text", error=True),
    )
    shown = page(turn(session))
    assert "Changed" not in shown.text
    assert shown.lines[line_with(shown, "a.py")].text.endswith("× failed")


def test_a_long_reply_takes_a_third_and_opens(tmp_path: Path) -> None:
    long = "\n\n".join(f"paragraph {number}" for number in range(40))
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply(long, call("bash", "c1", command="ls")),
        result("bash", "c1", "x"),
    )
    shown = page(turn(session), height=30)
    first, more = line_with(shown, "paragraph 0"), line_with(shown, "more lines")
    assert more - first == 10
    assert line_with(shown, "Ran") == more + 2
    opened = page(turn(session), toggled={shown.lines[more].toggle})
    assert "paragraph 39" in opened.text
    assert "fewer lines" in opened.text


def test_a_text_with_nothing_behind_it_is_shown_whole(tmp_path: Path) -> None:
    long = "\n\n".join(f"paragraph {number}" for number in range(40))
    session = write_session(tmp_path / "s.jsonl", user("go"), reply(long))
    assert "paragraph 39" in page(turn(session), height=20).text


def test_errors_are_said_with_their_reason(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl", user("go"), reply(stop="error", errorMessage="529 overloaded")
    )
    shown = page(turn(session))
    assert shown.lines[line_with(shown, "× error")].spans[-1].ink == "bad"
    assert "529 overloaded" in shown.text


def test_a_folded_run_lists_its_prompts(tmp_path: Path) -> None:
    entries = [part for number in range(15) for part in (user(f"prompt {number}"), reply("ok"))]
    session = write_session(tmp_path / "s.jsonl", *entries)
    fold = Selection(session, (range(30),), 0, SelectionKind.FOLD)
    shown = page(fold)
    assert shown.text.split("\n")[1].startswith("15 turns")
    assert shown.lines[line_with(shown, "prompt 11")].entry == 22
    assert "3 more prompts" in shown.text
    opened = page(fold, toggled={"prompts"})
    assert "prompt 14" in opened.text
    assert opened.lines[line_with(opened, "fewer prompts")].toggle == "prompts"


@pytest.mark.parametrize(
    ("tool", "noun", "key"),
    [("bash", "command", "ran"), ("grep", "call", "called"), ("write", "file", "changed")],
)
def test_the_rest_of_a_section_folds_again(tmp_path: Path, tool: str, noun: str, key: str) -> None:
    names = {"bash": "command", "grep": "pattern", "write": "path"}
    calls = [call(tool, f"c{at}", **{names[tool]: f"pears-{at:02}", "content": "a\n"}) for at in range(20)]
    results = [result(tool, f"c{at}", "ok") for at in range(20)]
    session = write_session(tmp_path / "s.jsonl", user("go"), reply(*calls), *results)
    shown, opened = page(turn(session)), page(turn(session), toggled={key})
    assert shown.lines[line_with(shown, f"8 more {noun}s")].toggle == key
    assert "pears-19" not in shown.text
    assert "pears-19" in opened.text
    assert opened.lines[line_with(opened, f"fewer {noun}s")].toggle == key


def test_labels_and_damage_are_shown_where_they_are(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("go"),
        reply("ok"),
        {"type": "label", "targetId": "00000001", "label": "checkpoint [x]"},
        user("orphan", parentId="ffffffff"),
    )
    assert "[checkpoint [x]]  on #1" in page(turn(session)).text
    assert "! the parent is not in this file" in page(turn(session, 3)).text


def test_ascii_glyphs_alone_are_used_where_asked_for(work: Session) -> None:
    for tab in Tab:
        assert page(turn(work), tab, glyphs=ASCII).text.isascii()


def test_building_stops_when_told(work: Session) -> None:
    asked = []

    def stop() -> bool:
        asked.append(1)
        return True

    shown = build(PageRequest(Tab.ENTRY, turn(work), 60, 30, UNICODE, Config()), stop)
    assert len(asked) == 1
    assert "Ran" not in shown.text


def test_calls_are_others_only_beside_files_and_commands(tmp_path: Path) -> None:
    read = {"type": "toolCall", "id": "r", "name": "read", "arguments": {"path": "a.py"}}
    session = write_session(tmp_path / "s.jsonl", user("look"), reply(read))
    assert "\nCalls  1" in page(turn(session)).text


def test_a_long_id_is_whole(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a", id="revert-ses_e0019245fffeL5Ya7nGiuG5ctI"))
    assert "id revert-ses_e0019245fffeL5Ya7nGiuG5ctI" in page(single(session, 0), width=80).text


def test_a_command_of_the_users_that_an_agent_stores_as_a_message_is_shown_as_typed(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        {
            "type": "custom_message",
            "customType": "opencode.shell",
            "content": "The following tool was executed by the user",
            "typed": "! ls src",
        },
        reply(call("bash", "c1", command="ls src")),
        result("bash", "c1", "calc.py"),
    )
    text = page(turn(session)).text
    assert "you  ! ls src" in text
    assert "The following tool" not in text


def test_a_command_of_claude_code_is_shown_as_it_was_typed(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the pears</command-args>",
        "two of them are ripe",
    )
    with closing(transcript.opened()) as session:
        shown = page(turn(session)).text
    assert "/review the pears" in shown
    assert "command-name" not in shown


def test_what_leafward_noted_is_no_part_of_a_turn_and_shown_as_an_entry(work: Session) -> None:
    session_operations.label(work, EntryIndex(0), "ours")
    session_operations.undo(work)
    heads = [at for at, kind in enumerate(work.columns.kind) if kind in (Kind.LABEL, Kind.CUSTOM)]
    assert heads
    text = "\n".join(line.text for line in page(turn(work, 0), height=80).lines)
    assert "mdLink" in text
    assert "Also" not in text
    assert all("ours" in "\n".join(line.text for line in page(single(work, at)).lines) for at in heads[:1])


def test_a_cost_that_counts_earlier_turns_is_not_the_cost_of_the_last_one(tmp_path: Path) -> None:
    """Claude Code stores what a whole run cost, behind its last turn."""
    transcript = Transcript(tmp_path)
    transcript.turn("first", "one")
    transcript.row("cost-state", totalCostUSD=0.5)
    transcript.turn("second", "two")
    transcript.turn("third", "three")
    transcript.row("cost-state", totalCostUSD=0.75)
    with closing(transcript.opened()) as session:
        heads = [at for at, kind in enumerate(session.columns.kind) if kind == Kind.USER]
        facts = [page(turn(session, head)).lines[2].text for head in heads]
        assert ["$" in line for line in facts] == [True, False, False]
        assert "$0.50" in facts[0]
        last = page(turn(session, heads[2]))
        assert last.lines[line_with(last, "usage   cost")].text.split()[2] == "$0.25"


def test_entries_behind_the_last_reply_are_told(tmp_path: Path) -> None:
    """The numbers end with the reply, as `tree` has it; the count goes on."""
    transcript = Transcript(tmp_path)
    transcript.turn("first", "one")
    transcript.row("cost-state", totalCostUSD=0.5)
    with closing(transcript.opened()) as session:
        lines = page(turn(session)).lines
        assert lines[1].text.rstrip().endswith(("#0 \u2013 #1", "#0 - #1"))
        assert "3 entries, 1 after #1" in lines[2].text
