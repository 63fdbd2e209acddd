"""Claude Code: what the summary of a compaction is made from, and which rows are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.entries import Kind
from leafward.summaries.fates.report import Status, survival_of
from tests.claude_transcript import NOWHERE, Transcript, boundary, compactions
from tests.core.catalogued import cards_in
from tests.foreign_sessions import texts

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


INVENTED = "Read src/queue/gap.ts, opened PR #201 and wrote the parser of takeLease.\n\n"
POINTER = (
    "If you need specific details from before compaction (like exact code snippets), read the full transcript at: "
    "/home/ada/.claude/projects/-home-ada-orchard/00000001.jsonl\nPlease continue the conversation."
)


def invented(session: Session) -> set[str]:
    """The facts that the last compaction's summary has and nothing before it."""
    found = survival_of(session, compactions(session)[-1])
    return {fate.fact.text for fate in found.fates if fate.status is Status.INVENTED}


def test_the_address_of_the_transcript_below_a_summary_is_not_invented(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("open a pull request", "It is https://github.com/ada/orchard/pull/201")
    boundary(transcript, INVENTED + POINTER)
    assert invented(transcript.opened()) == {"src/queue/gap.ts", "takeLease"}


def test_nothing_is_called_invented_where_the_file_begins_in_the_middle(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.tip = NOWHERE
    transcript.turn("go on", "done")
    boundary(transcript, INVENTED)
    session = transcript.opened()
    assert invented(session) == set()
    assert survival_of(session, compactions(session)[-1]).partial


def test_a_second_compaction_was_made_from_what_the_file_holds(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.tip = NOWHERE
    transcript.turn("go on", "done")
    boundary(transcript, "gap.ts was read")
    transcript.turn("and then", "done too")
    boundary(transcript, INVENTED)
    assert invented(transcript.opened()) == {"#201", "takeLease"}


def test_a_summary_that_1_0_copied_when_it_resumed_is_no_prompt(tmp_path: Path) -> None:
    """It wrote a new file, without the marks of its rows. What a person pastes is a text, or of a later version."""
    opening = "This session is being continued from a previous conversation. Summary: pears were counted."
    copied: dict[str, Any] = {"content": [{"type": "text", "text": opening}], "role": "user"}
    kinds = []
    for number, (version, message) in enumerate(
        [
            ("1.0.38", copied),
            ("2.1.0", copied),
            (7, copied),
            ("1.0.38", {"role": "user", "content": opening}),
        ]
    ):
        transcript = Transcript(tmp_path / str(number))
        transcript.defaults = {"version": version}
        transcript.row("user", message=message)
        transcript.turn("Count on", "Counted.")
        session = transcript.opened()
        kinds.append(Kind(session.columns.kind[0]))
        assert [problem.code for problem in check(session)] == ["cwd-missing"]
    assert kinds == [Kind.COMPACTION, Kind.USER, Kind.USER, Kind.USER]
    (first, *_) = cards_in(tmp_path / "0", tmp_path / "i")
    assert (first.title, first.turns, first.compactions) == ("Count on", 1, 1)


def test_a_compaction_as_stream_json_prints_it(tmp_path: Path) -> None:
    """Its names are in another form, and its summary has no mark but that nobody typed it (2.1.261)."""
    transcript = Transcript(tmp_path)
    transcript.turn("Count the pears", "Seven.")
    kept = transcript.reply("And nine plums.")
    named = transcript.id_of(transcript.number + 2)
    rows = {"anchor_uuid": named, "uuids": [kept], "all_uuids": [kept]}
    details = {"trigger": "manual", "pre_tokens": 900, "post_tokens": 40, "preserved_messages": rows}
    transcript.row("system", subtype="compact_boundary", compact_metadata=details, logical_parent_uuid=kept)
    opening = "This session is being continued from a previous conversation that ran out of context."
    transcript.prompt(f"{opening}\n\nSummary:\nPears were counted.", isSynthetic=True)
    transcript.turn("Count on", "Counted.")
    session = transcript.opened()
    context = context_at(session)
    assert context.compaction >= 0
    assert session.entry(context.compaction).body["tokensBefore"] == 900
    assert texts(session)[1:] == ["And nine plums.", "Count on", "Counted."]
    (card, *_) = cards_in(tmp_path, tmp_path / "i")
    assert (card.title, card.turns, card.compactions) == ("Count the pears", 2, 1)


def test_what_a_person_pastes_of_a_summary_is_a_prompt(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("This session is being continued from a previous conversation. Go on.", "Yes.")
    assert transcript.opened().columns.kind[0] == Kind.USER
