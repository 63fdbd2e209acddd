"""The gate: which rules and unfinished steps would be in nothing that the model sees after a compaction."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.draft.draft_assembly import draft, edited
from leafward.compaction.draft.gate import gate_pins, pinned, unseen
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.earlier_statements import statements
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.core.compacted import repair
from tests.pi_file import RULE, STEP, PiFile, lossy
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.compaction.draft.draft import Draft


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    lossy(tmp_path)
    with closing(Session.open(tmp_path / "s.jsonl")) as session:
        yield session


def repaired(path: Path, compaction: int) -> Draft:
    with closing(Session.open(path)) as session:
        return repair(session, compaction)


def test_what_nothing_holds_is_listed_whole_and_pins_bring_it_back(session: Session) -> None:
    made = repair(session, 4)
    assert [fate.fact.text for fate in unseen(made.survival)] == [RULE, STEP]
    again = pinned(made, gate_pins(made))
    assert unseen(again.survival) == ()
    assert again.pins == (RULE, STEP)
    assert RULE in again.text


def test_a_rule_of_many_words_is_pinned_whole_by_whoever_writes_the_summary(tmp_path: Path) -> None:
    rule = (
        f"Never push to main without asking me first, {'because much depends on what is there, ' * 8}as said."
    )
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"Please look at the lease table. {rule}")
    kept = file.reply("The lease table is read now.")
    summary = "## Goal\n- look at the lease table"
    file.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=400, details={})
    file.user("next")
    with closing(Session.open(file.path)) as session:
        made = repair(session, 2)
        (lost,) = gate_pins(made)
        again = pinned(made, [lost])
        assert (lost, unseen(again.survival), again.pins) == (rule, (), (rule,))
        planned = plan(measure(session, EntryIndex(1)), PlanSettings(keep_recent=0))
        assert rule in draft(session, planned, Extractive(), pins=[rule]).text


def test_a_secret_that_a_message_names_is_taken_out_of_pins_without_its_name(tmp_path: Path) -> None:
    secret = "q8ZtR4mLw2Pn6Vd9"
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"The admin password is {secret}. Set up the lease table.")
    file.reply("Done.")
    file.user("go on")
    with closing(Session.open(file.path)) as session:
        made = plan(measure(session), PlanSettings(keep_recent=0))
        first = draft(session, made, Extractive(), pins=[f"Never write {secret} into a log."])
        again = pinned(first, [f"Always check {secret} first."])
    assert [pin.count("[redacted: ") for pin in again.pins] == [1, 1]
    assert secret not in "".join((first.text, again.text, *first.pins, *again.pins))


def test_a_rule_that_the_summary_turns_round_is_listed(session: Session) -> None:
    made = edited(repair(session, 4), f"## Constraints\n- The rule was withdrawn: {RULE}\n- [ ] {STEP}")
    assert [fate.fact.text for fate in unseen(made.survival)] == [RULE]


def test_what_the_kept_messages_hold_stops_nothing(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"Please look at the lease table. {RULE}")
    file.reply("Read.")
    kept = file.user(RULE)
    file.entry("compaction", summary="## Goal\n- leases", firstKeptEntryId=kept, tokensBefore=400, details={})
    assert unseen(repaired(tmp_path / "s.jsonl", 3).survival) == ()


def test_a_checklist_in_a_file_is_still_in_the_file(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("write the plan down")
    arguments = {"path": "plan.md", "content": "- [ ] rename the orchard module\n- [ ] test the orchard"}
    content = [{"type": "toolCall", "id": "c1", "name": "write", "arguments": arguments}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "toolUse"})
    kept = file.user("go on")
    file.entry("compaction", summary="## Goal\n- a plan", firstKeptEntryId=kept, tokensBefore=400, details={})
    made = repaired(tmp_path / "s.jsonl", 3)
    assert any(fate.fact.text == "rename the orchard module" for fate in made.survival.fates)
    assert unseen(made.survival) == ()


EARLIER = """# Checkpoint

## User Preferences
- **E2E tests only** - no unit tests
- (none)

## Testing
The user wants the orchard watered before each release. There is a list of it.

6. All user messages:
   - "never commit without asking me"
   - "how far are we?"

## Next Steps
1. Rename `Orchard` to `Grove` in src/orchard.py
2. Update the changelog of the orchard
3. Run `npm run check` to verify
"""
RULES = [
    "**E2E tests only** - no unit tests",
    "The user wants the orchard watered before each release.",
    "never commit without asking me",
]
STEPS = ["Rename `Orchard` to `Grove` in src/orchard.py", "Update the changelog of the orchard"]


def compacted_again(path: Path, *calls: dict[str, Any], asked: str = "how far are we with it?") -> Draft:
    """A session with an agent's own summary, some calls and their answer; then one more compaction that says nothing."""
    file = PiFile(path / "s.jsonl")
    file.user("look at the orchard")
    kept = file.reply("Looked at.")
    file.entry("compaction", summary=EARLIER, firstKeptEntryId=kept, tokensBefore=400, details={})
    file.user(asked)
    for number, call in enumerate(calls):
        content = [{"type": "toolCall", "id": f"c{number}", **call}]
        file.entry("message", message={"role": "assistant", "content": content, "stopReason": "toolUse"})
        file.result(f"c{number}")
    file.reply("Here it is.")
    kept = file.user("next")
    second = file.entry("compaction", summary="Okay.", firstKeptEntryId=kept, tokensBefore=400, details={})
    with closing(Session.open(path / "s.jsonl")) as session:
        return repair(session, session.columns.index(second))


def test_rules_and_steps_of_the_agents_own_earlier_summary_are_listed(tmp_path: Path) -> None:
    made = compacted_again(tmp_path)
    assert {fate.fact.text for fate in unseen(made.survival)} == {
        *RULES,
        *STEPS,
        "Run `npm run check` to verify",
    }
    facts = {fate.fact.kind for fate in made.survival.fates}
    assert {FactKind.CONSTRAINT, FactKind.TODO} <= facts
    assert unseen(pinned(made, gate_pins(made)).survival) == ()


def test_a_pinned_step_says_that_it_is_open(tmp_path: Path) -> None:
    pins = gate_pins(compacted_again(tmp_path))
    assert set(pins) >= {*RULES, *(f"Still to do when this was pinned: {step}" for step in STEPS)}


def test_what_opencode_heads_as_instructions_are_rules() -> None:
    told = statements(
        "## Goal\n- prune\n\n## Instructions\n- Ask before a branch is cut.\n- (none)", EntryIndex(3)
    )
    assert [(one.kind, one.text) for one in told] == [(FactKind.CONSTRAINT, "Ask before a branch is cut.")]


def test_a_step_that_was_worked_on_since_is_no_unfinished_one(tmp_path: Path) -> None:
    edit = {"name": "edit", "arguments": {"path": "src/orchard.py", "oldText": "a", "newText": "b"}}
    check = {"name": "bash", "arguments": {"command": "npm run check"}}
    made = compacted_again(tmp_path, edit, check, asked="rename the orchard's class and check it")
    assert {fate.fact.text for fate in unseen(made.survival)} == {*RULES, STEPS[1]}


def test_steps_of_a_summary_amid_work_are_over_when_that_is_answered(tmp_path: Path) -> None:
    made = compacted_again(tmp_path, {"name": "bash", "arguments": {"command": "ls"}}, asked="go on")
    assert {fate.fact.text for fate in unseen(made.survival)} == set(RULES)


def test_a_step_that_the_new_summary_calls_done_is_not_asked_for(tmp_path: Path) -> None:
    done = edited(compacted_again(tmp_path), "\n".join(f"- [x] {step}" for step in STEPS))
    assert {fate.fact.text for fate in unseen(done.survival)} == {*RULES, "Run `npm run check` to verify"}


@pytest.mark.parametrize(
    ("demand", "replied", "stops"),
    [
        ("The leases must be sorted by shop.", True, False),
        ("The leases must be sorted by shop.", False, True),
        ("Never sort the leases by shop.", True, True),
    ],
)
def test_what_was_demanded_with_an_answered_request_stops_nothing_unless_it_lasts(
    demand: str, replied: bool, stops: bool, tmp_path: Path
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("look at the orchard")
    file.reply("Looked at.")
    file.user(f"Show the leases in a table. {demand}")
    file.reply("Here they are, each on a row of its own." if replied else "Where shall I show them?")
    kept = file.user("now count the wells" if replied else "here")
    file.entry("compaction", summary="Okay.", firstKeptEntryId=kept, tokensBefore=400, details={})
    found = {fate.fact.text for fate in unseen(repaired(tmp_path / "s.jsonl", 5).survival)}
    assert (demand in found) == stops


def test_a_pin_cannot_be_edited_away(session: Session) -> None:
    made = edited(repair(session, 4, pins=["grams, not ounces"]), "## Goal\n- something else")
    assert "grams, not ounces" in made.text


@pytest.mark.parametrize("name", ["large-session", "branched-compacted", "before-compaction"])
def test_our_own_summaries_are_not_stopped(name: str) -> None:
    path = CORPORA / "pi" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the corpora are not here")
    with closing(Session.open(path)) as session:
        made = draft(session, plan(measure(session, session.leaf), PlanSettings()), Extractive())
    assert [fate.fact.text for fate in unseen(made.survival)] == []
