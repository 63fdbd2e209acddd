"""Claude Code: rows that nobody here has seen, wherever they stand. All that others say stays as it is, and they are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.claude.entries.entry_builder import EntryBuilder
from leafward.agents.claude.entries.records import CHAINED
from leafward.agents.claude.entries.row_notes import RowNotes
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import NEVER_SENT
from tests.claude_transcript import Transcript
from tests.core.linear_time import in_linear_time
from tests.foreign_sessions import problems, said
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.entries import Body
    from leafward.session.session import Session

NAME = "aaaaaaaa-0000-4000-8000-000000000001"
STRANGE = ["hologram", "system", "attachment", "progress"]
KNOWN = [
    "continued-in",
    "ended-by-model",
    "bridge-session",
    "memory-mode",
    "frame-link",
    "repl-mode",
    "pr-link",
]
OF_KIND: dict[str, Body] = {
    "system": {"subtype": "hologram"},
    "attachment": {"attachment": {"type": "hologram"}},
    "progress": {"data": {"type": "hologram"}},
}


def talk(folder: Path) -> Transcript:
    """A reply before 2.1.80 that was resumed from inside, calls side by side, a compaction with what is attached to it."""
    transcript = Transcript(folder)
    transcript.defaults = {"version": "2.0.42"}
    transcript.row("mode", mode="normal")
    transcript.row("queue-operation", operation="enqueue", content="Count the pears")
    transcript.prompt("Count the pears")
    thought = transcript.block({"type": "thinking", "thinking": "Pears.", "signature": "S"}, "m1", None)
    transcript.reply("Which ones?", "m1")
    transcript.prompt("The ripe ones", parentUuid=thought)
    transcript.call("Count", "a", "m2")
    transcript.call("Count", "b", "m2")
    transcript.result("b", "three")
    transcript.result("a", "four")
    transcript.reply("Seven.")
    transcript.row(
        "system",
        subtype="compact_boundary",
        content="compacted",
        parentUuid=None,
        logicalParentUuid=transcript.tip,
        compactMetadata={"trigger": "manual", "preTokens": 900},
    )
    transcript.attachment("the ripe pears")
    transcript.row("cost-state", totalCostUSD=0.5)
    transcript.prompt("Seven pears were counted.", isCompactSummary=True)
    transcript.turn("And the plums?", "None.")
    return transcript


def told(session: Session) -> list[Any]:
    bodies = [session.body(index) or {} for index in range(len(session))]
    messages = [body["message"] for body in bodies if "message" in body]
    return [
        said(session),
        [(one["role"], one.get("usage"), one.get(NEVER_SENT)) for one in messages],
        session.branches,
    ]


def between(rows: list[Body], place: int, kind: str, where: str) -> list[Body]:
    """The rows with one more: outside the chain, beside it, or in it."""
    above = next((row for row in reversed(rows[:place]) if row["type"] in CHAINED), None)
    row: Body = {"type": kind, "timestamp": rows[0]["timestamp"], "colour": "plum", **OF_KIND.get(kind, {})}
    if where != "outside":
        row = {"parentUuid": above and above["uuid"], "isSidechain": False, **row, "uuid": NAME}
    rest = [dict(one) for one in rows[place:]]
    if where == "in the chain" and above is not None:
        for one in rest:
            if one.get("parentUuid") == above["uuid"]:
                one["parentUuid"] = NAME
                break
    return [*rows[:place], row, *rest]


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (kind, where)
        for kind in (*STRANGE, *KNOWN)
        for where in ("outside", "beside the chain", "in the chain")
        if where != "outside" or kind not in CHAINED
    ],
)
def test_a_row_between_others_changes_nothing_that_they_say(tmp_path: Path, kind: str, where: str) -> None:
    transcript = talk(tmp_path)
    expected = told(transcript.opened())
    rows = [json.loads(line) for line in transcript.path.read_bytes().splitlines()]
    # Each kind of row at other places, unless all are tried.
    first, step = (1, 1) if THOROUGH else (1 + len(kind + where) % 3, 3)
    for place in range(first, len(rows) + 1, step):
        changed = between(rows, place, kind, where)
        transcript.path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in changed))
        session = transcript.opened()
        assert told(session) == expected, place
        (entry,) = (index for index in range(len(session)) if "plum'" in str(session.body(index)))
        assert session.columns.kind[entry] == (Kind.UNKNOWN if kind == "hologram" else Kind.CUSTOM)
        assert str((session.body(entry) or {}).get("customType", f"claude.{kind}")).startswith(
            f"claude.{kind}"
        )
        shown = headline(session, entry).text
        assert shown == "claude.hologram" if kind == "hologram" else not set("-_.") & set(shown), shown
        assert ("unknown-record" in problems(session)) is (kind == "hologram")
        session.close()


@pytest.mark.parametrize("first", ["before the compaction", "nowhere", "behind it"])
def test_what_follows_a_prompt_that_was_written_anew_hangs_on_it(tmp_path: Path, first: str) -> None:
    """Rows behind it name the id that it was sent as, which the copy before the compaction has too."""
    transcript = Transcript(tmp_path)
    transcript.turn("Count the pears", "Seven.")
    if first == "before the compaction":
        transcript.prompt("And the plums?", uuid=NAME)
        transcript.reply("None.")
    transcript.boundary("Seven pears were counted.")
    if first == "behind it":
        transcript.prompt("And the plums?", uuid=NAME)
        transcript.reply("None yet.")
    above = transcript.tip
    transcript.prompt("And the plums?", sentAsUuid=NAME, parentUuid=above)
    transcript.reply("None.", parentUuid=NAME)
    transcript.turn("Thanks", "Gladly.")
    session = transcript.opened()
    expected = ["And the plums?", "None.", "Thanks", "Gladly."]
    assert [text for _, text in said(session)][1:] == expected
    assert not session.branches or first == "behind it"
    assert not problems(session)
    transcript.turn("Again", "Gladly again.")
    session.refresh()
    assert said(session) == said(transcript.opened())


def test_what_follows_a_prompt_that_was_written_anew_twice_hangs_on_the_nearest(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("And the plums?", uuid=NAME)
    transcript.reply("None.")
    for summary in ("Plums were asked for.", "Plums were asked for again."):
        transcript.boundary(summary)
        transcript.prompt("And the plums?", sentAsUuid=NAME, parentUuid=transcript.tip)
        transcript.reply("Still none.", parentUuid=NAME)
    session = transcript.opened()
    assert [text for _, text in said(session)][1:] == ["And the plums?", "Still none."]
    assert not session.branches
    assert not problems(session)


def test_a_compaction_whose_every_place_leads_back_to_it_ends(tmp_path: Path) -> None:
    """Every row before it and behind it hangs on it: looking for one that it follows went on for ever."""
    names = [f"{number:08x}-0000-4000-8000-00000000feed" for number in range(5)]
    transcript = Transcript(tmp_path)
    for name in names[:3]:
        transcript.prompt("And the plums?", uuid=name, parentUuid=names[3])
    transcript.row(
        "system",
        subtype="compact_boundary",
        content="compacted",
        uuid=names[3],
        parentUuid=None,
        logicalParentUuid=names[4],
        compactMetadata={"trigger": "manual", "preTokens": 900},
    )
    transcript.prompt("And the pears?", uuid=names[4], parentUuid=names[3])
    assert len(transcript.opened()) == len(names)


def test_a_cost_that_no_float_holds_is_none() -> None:
    """Rows that are read by their shapes hold whole numbers of any length."""
    notes = RowNotes()
    assert [notes.spend(row, total) for row, total in enumerate((10**400, True, "1", 0.5))] == [
        False,
        False,
        False,
        True,
    ]
    assert notes.costs == {3: 0.5}


def test_very_many_prompts_that_were_written_anew_take_linear_time(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("And the plums?", uuid=NAME)
    rows = [
        {
            "type": "user",
            "uuid": f"{number:08x}-0000-4000-8000-00000000feed",
            "parentUuid": f"{number:08x}-0000-4000-8000-00000000dead",
            "sentAsUuid": f"{number:08x}-0000-4000-8000-0000deadbeef",
            "sessionId": transcript.session,
            "message": {"role": "user", "content": "And the plums?"},
        }
        for number in range(20_000)
    ]
    transcript.raw(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    with in_linear_time(5):
        assert len(transcript.opened()) == 1 + len(rows)


@pytest.mark.parametrize(
    ("mark", "kind"),
    [("isVisibleInTranscriptOnly", Kind.INJECTED), ("textNotTyped", Kind.CUSTOM_MESSAGE)],
)
@pytest.mark.parametrize("by_shapes", [False, True])
def test_what_claude_code_marks_as_not_typed_is_nobodys_prompt(
    tmp_path: Path, mark: str, kind: Kind, *, by_shapes: bool
) -> None:
    """A message that its screen leaves out is none at all; one that a timer sends begins a turn."""
    transcript = Transcript(tmp_path)
    transcript.turn("Count the pears", "Seven.")
    transcript.prompt("A list of all pears", **{mark: True})
    transcript.turn("And the plums?", "None.")
    rows = Rows()
    rows.by_shapes = by_shapes
    data = transcript.path.read_bytes()
    rows.feed(data, len(data), 0)
    builder = EntryBuilder(rows, 0, own=False)
    assert builder.columns.kind[2] == kind
    session = transcript.opened()
    assert list(session.columns.kind) == list(builder.columns.kind)
    assert [text for _, text in said(session)][2] == "A list of all pears"
