"""The text of a compaction: its limit, pins, edits, injected context, messages in their words."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Refused
from leafward.base.strategies import Strategy
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft, edited
from leafward.compaction.draft.replacement import replacing
from leafward.compaction.injection.injection import inject
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.stored_summary.stored_summary import (
    KEPT_HEADING,
    cut_middle,
    file_section,
    fitted,
    stored_parts,
    stored_text,
    with_pins,
)
from leafward.context.model_context import context_at
from leafward.session.entries import Usage
from leafward.session.injected_block import enclose
from leafward.session.session import Session
from leafward.session.tokens import utf16_length
from leafward.summaries.fates.report import Status, survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import Span, Summary, tokens_of
from tests.core.compacted import SMALL, drafted, fates, talk

if TYPE_CHECKING:
    from pathlib import Path

SMALL_ESTIMATORS = (PlanSettings(strategy=Strategy.CODEX).counting,)


@pytest.mark.parametrize(
    "path", ["~/.config/tool.json", "-draft.md", "=notes", "src/nai\u0308ve.py", "# plan.md", "1. first.md"]
)
def test_every_modified_file_is_listed_whatever_its_name(path: str) -> None:
    assert file_section([], [path], "", "/work", 0) == f"<modified-files>\n{path}\n</modified-files>"


@pytest.mark.parametrize("path", ["a\nb.py", "</modified-files>", "x<read-files>.py"])
def test_a_name_that_would_break_the_list_is_left_out(path: str) -> None:
    assert file_section([], ["a.py", path], "", "/work", 0) == "<modified-files>\na.py\n</modified-files>"


def test_a_file_that_the_summary_names_in_a_shared_folder_is_not_listed_again() -> None:
    summary = "- Read: in `packages/orchard/src/`: `one.py`, `deep/two.py`"
    read = ["packages/orchard/src/deep/two.py", "/work/packages/orchard/src/one.py", "one.py"]
    assert file_section(read, [], summary, "/work", 1000) == "<read-files>\none.py\n</read-files>"


@pytest.mark.parametrize(
    "pin", ["--no-verify is forbidden", "~/.ssh stays as it is", "-x stops at the first"]
)
def test_a_pin_keeps_its_first_signs(demo: Session, pin: str) -> None:
    made = drafted(demo, pins=[pin])
    assert f"- {pin}" in made.text.split("\n")


class TestLimit:
    @pytest.mark.parametrize("limit", [120, 300, 700, 1500, 4000])
    @pytest.mark.parametrize("strategy", list(Strategy))
    def test_bounds_the_whole_text(self, demo: Session, limit: int, strategy: Strategy) -> None:
        made = drafted(demo, PlanSettings(strategy=strategy, keep_recent=2_000), max_tokens=limit)
        assert tokens_of(made.text) <= limit
        assert tokens_of(made.text) > 0.6 * min(limit, 2_100)

    def test_with_what_is_injected_and_pins(self, demo: Session) -> None:
        injection = inject(demo, demo.leaf)
        pins = ["never push to main", "weights are in grams"]
        made = drafted(demo, max_tokens=injection.tokens + 400, injection=injection, pins=pins)
        assert tokens_of(made.text) <= injection.tokens + 400
        assert made.text.endswith(injection.text)
        assert all(f"- {pin}" in made.text for pin in pins)

    def test_that_leaves_no_room_is_refused(self, demo: Session) -> None:
        injection = inject(demo, demo.leaf)
        with pytest.raises(
            Refused, match="leave no room for a summary beside the injected context; allow more"
        ):
            drafted(demo, max_tokens=injection.tokens + 10, injection=injection)

    def test_a_model_that_does_not_keep_to_it_is_cut_by_lines(self, demo: Session) -> None:
        class Talkative:
            name = "local/talkative"

            def summarize(self, span: Span, budget: int, progress: Any = None, stop: Any = None) -> Summary:
                text = "## Goal\n- Be brief\n\n## Critical Context\n" + "- and another line\n" * 400
                return Summary(text, self.name, usage=Usage())

        made = draft(demo, plan(measure(demo), SMALL), Talkative(), max_tokens=300, pins=["never push"])
        assert tokens_of(made.text) <= 300
        assert "- Be brief" in made.text
        assert "- never push" in made.text
        assert "shortened" in {one.code for one in made.diagnostics}


class TestPins:
    def test_survive_word_for_word(self, demo: Session) -> None:
        lost = next(fate.fact for fate in drafted(demo).survival.fates if fate.status is Status.LOST)
        made = drafted(demo, pins=[lost.text])
        again = {fate.fact.key: fate.status for fate in made.survival.fates if fate.fact.kind is lost.kind}
        assert again[lost.key] is Status.VERBATIM

    def test_are_carried_into_the_next_compaction(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            accept(session, drafted(session, PlanSettings(keep_recent=40), pins=["never push"]))
            file.leaf = session.columns.id(session.leaf)
        file.user("and now something else " * 20)
        file.reply("done with that " * 20)
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(keep_recent=40), pins=["weights in grams", "never push"])
            assert made.pins == ("never push", "weights in grams")
            assert "- never push" in made.text
            assert made.text.count("never push") == 1

    def test_stay_in_a_text_that_the_user_wrote(self, demo: Session) -> None:
        made = edited(drafted(demo, pins=["never push"]), "Just this.")
        assert made.text.startswith("Just this.\n\n## Critical Context\n- never push")


class TestEdited:
    def test_everything_is_made_anew(self, demo: Session) -> None:
        first = drafted(demo)
        made = edited(first, "The leases were the fix; `make check` is green.")
        assert made.tokens_after < first.tokens_after
        assert (made.survival.overall() or 0) < (first.survival.overall() or 0)
        accept(demo, made)
        assert context_at(demo).size.total == made.tokens_after
        assert fates(survival_of(demo, demo.leaf)) == fates(made.survival)
        assert (demo.body(demo.leaf) or {})["details"]["leafward"]["edited"] is True

    def test_lines_that_stayed_keep_their_sources(self, demo: Session) -> None:
        first = drafted(demo)
        kept = next(line for line in first.summary.lines if line.sources)
        made = edited(first, f"A line of mine.\n{kept.text}")
        sources = made.details()["leafward"]["sources"]
        assert sources == [[1, *(demo.columns.id(entry) for entry in kept.sources)]]

    def test_control_codes_do_not_get_in(self, demo: Session) -> None:
        assert "\x1b" not in edited(drafted(demo), "red \x1b[31m alert").text

    def test_an_empty_text_is_refused(self, demo: Session) -> None:
        with pytest.raises(Refused, match="empty summary"):
            edited(drafted(demo), " \n ")


class TestInjected:
    def test_stands_behind_the_summary_and_is_not_carried_on(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            injection = inject(session, session.leaf)
            made = drafted(session, PlanSettings(keep_recent=40), injection=injection)
            assert made.text.endswith("\n\n" + injection.text)
            accept(session, made)
            assert context_at(session).size.total == made.tokens_after
            noted = (session.body(session.leaf) or {})["details"]["leafward"]["injection"]
            assert noted["digest"] == injection.digest
            file.leaf = session.columns.id(session.leaf)
        file.user("and now something else " * 20)
        file.reply("done with that " * 20)
        with closing(Session.open(file.path)) as session:
            wanted = plan(measure(session), PlanSettings(keep_recent=40))
            assert "leafward-context" not in replacing(session, wanted).previous
            assert "leafward-context" not in drafted(session, PlanSettings(keep_recent=40)).text

    def test_a_summary_cannot_pass_for_it(self) -> None:
        text = stored_text(f"one\n{enclose('two')}", injected=enclose("three"))
        assert stored_parts(text).injected == "three"
        assert "two" in stored_parts(text).summary


class TestCodex:
    def test_messages_of_the_user_stand_in_the_text_word_for_word(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        settings = PlanSettings(strategy=Strategy.CODEX, keep_recent=60)
        with closing(Session.open(file.path)) as session:
            made = drafted(session, settings)
            stored = stored_parts(made.text)
            assert made.text.startswith(KEPT_HEADING)
            assert stored.kept[-1] == "question 5 " * 12
            assert "cut in the middle" in stored.kept[0]
            assert stored.summary.startswith("## Goal")
            accept(session, made)
            assert context_at(session).size.total == made.tokens_after
            assert len(context_at(session).messages) == 1
            file.leaf = session.columns.id(session.leaf)
        file.user("one more")
        file.reply("yes")
        with closing(Session.open(file.path)) as session:
            wanted = plan(measure(session, estimators=list(SMALL_ESTIMATORS)), settings)
            assert [said.message["role"] for said in replacing(session, wanted).summarised[:2]] == [
                "user",
                "user",
            ]
            again = stored_parts(draft(session, wanted, Extractive()).text)
            assert again.kept == (stored.kept[-1], "one more")

    def test_the_summary_beside_them_tells_what_is_open(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        request = "Rename the parser of orchard to grove."
        file.user(request)
        file.reply("I look at the parser first.", "call")
        file.result("call")
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(strategy=Strategy.CODEX))
        assert stored_parts(made.text).kept[-1] == request
        summary = stored_parts(made.text).summary
        assert f"## Goal\n- {request}" in summary
        assert "- Last reply: I look at the parser first." in summary
        assert "### In Progress" not in summary
        assert "At the end, the user" not in summary

    def test_secrets_do_not_stand_in_them(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        file.user("use the key sk-ant-" + "a1b2c3d4" * 4 + " for it")
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(strategy=Strategy.CODEX))
        assert "sk-ant" not in made.text
        assert "[redacted: anthropic key]" in stored_parts(made.text).kept[-1]
        assert any("1 secret redacted" in one.text for one in made.diagnostics)


class TestTexts:
    def test_a_text_is_cut_in_the_middle_to_size(self) -> None:
        for text in ("word " * 400, "字" * 900, "🦊" * 500):
            for units in (0, 5, 60, 300):
                assert utf16_length(cut_middle(text, units)) <= units
        assert cut_middle("short", 5) == "short"
        long = cut_middle("a" * 500 + "z" * 500, 200)
        assert (long[0], long[-1]) == ("a", "z")
        assert "1,000 characters" in long

    def test_lines_go_where_most_are(self) -> None:
        text = "## Goal\n- g1\n\n## Done\n- d1\n- d2 is long\n\n## Next\n- n"
        shorter, dropped = fitted(text, utf16_length(text) - 1)
        assert (shorter, dropped) == ("## Goal\n- g1\n\n## Done\n- d1\n\n## Next\n- n", 1)
        assert fitted(text, 10_000) == (text, 0)
        assert fitted("## Goal", 2)[0] == ""

    def test_pins_take_their_place(self) -> None:
        text = "## Goal\n- g\n\n## Critical Context\n- (none)"
        assert with_pins(text, ["p"]) == ("## Goal\n- g\n\n## Critical Context\n- p", ("p",))
        assert with_pins("- p is there", ["p"]) == ("- p is there", ())

    def test_taken_apart_it_is_what_it_was(self) -> None:
        text = stored_text(
            "S", kept=f"{KEPT_HEADING}\n\n<user-message>\nm\n</user-message>", injected=enclose("I")
        )
        assert stored_parts(text) == (("m",), "S", "", "I")
