"""Messages, summaries and lists that somebody made so long or so uniform that reading them takes quadratic time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts import values
from leafward.summaries.facts.calls import outcomes
from leafward.summaries.facts.calls.printed_errors import printed_errors
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.spaced_paths import spaced_paths, without
from leafward.summaries.facts.memory_citation import without_citation
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences import pasting, questions, responses
from leafward.summaries.facts.sentences.standing_orders import orders_agent
from leafward.summaries.facts.sentences.told_steps import ToldSteps
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice
from leafward.summaries.summarizers.outline import harmless, outline_lines, unframed
from leafward.summaries.survival.rule_match import is_contrary
from leafward.summaries.survival.text_match import FactMatch, FactText
from tests.core.linear_time import in_linear_time
from tests.core.told import reply, result

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG = 200_000
"""Characters."""
AT = EntryIndex(0)


def printed(text: str) -> list[Sighting]:
    return TextFacts("/x").by_form(text, Voice.OUTPUT, AT)


def plan_call(steps: Sequence[str]) -> dict[str, object]:
    todos = [{"content": step, "status": "pending"} for step in steps]
    call = {"type": "toolCall", "id": "a", "name": "TodoWrite", "arguments": {"todos": todos}}
    return {"role": "assistant", "content": [call]}


@pytest.mark.parametrize(
    "line",
    [" " * LONG + "x", " at" + " " * LONG + "x", "x [" + "1" * LONG, "● " + " " * LONG + "[1"],
    ids=["blanks", "frame", "digits", "row"],
)
def test_a_line_of_a_prompt_that_only_begins_like_a_log(line: str) -> None:
    with in_linear_time():
        pasting.divided(line)


def test_very_many_tags_that_are_never_closed() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [a + b + c for a in letters for b in letters for c in letters]
    text = "".join(f"<ide_{name}>" for name in names) + "<ide_aab>in it</ide_aab>"
    with in_linear_time():
        own, pasted = pasting.divided(text)
    assert "in it" not in own
    assert own.startswith("<ide_aaa>")
    assert pasted == ""


def test_very_many_question_marks() -> None:
    with in_linear_time():
        assert not questions.asks("?" * LONG + "x")
        assert questions.asks("x" + "?!" * LONG)


def test_very_many_blank_lines_in_an_output() -> None:
    with in_linear_time():
        assert outcomes.counts_in("\n" * LONG + "# x") == ""
    assert outcomes.counts_in("\n\n  # pass 3\n# fail 1\n") == "3 pass, 1 fail"


def test_very_many_groups_of_digits_in_an_output() -> None:
    with in_linear_time():
        assert outcomes.counts_in("1" + ",111" * (LONG // 4) + " x") == ""
    assert outcomes.counts_in("1,204 passed, 12 skipped") == "1,204 passed, 12 skipped"


def test_very_many_blank_lines_in_a_reply_that_names_a_citation() -> None:
    blank = "a" + "\n" * LONG + "b <oai-mem-citation>"
    message = {"role": "assistant", "content": [{"type": "text", "text": blank}]}
    with in_linear_time():
        assert without_citation(message)["content"] == message["content"]
    cited = "Done.\n\n <oai-mem-citation>x</oai-mem-citation>\nNext."
    message = {"role": "assistant", "content": [{"type": "text", "text": cited}]}
    assert without_citation(message)["content"] == [{"type": "text", "text": "Done.\nNext."}]


def test_very_many_numbers_beside_paths() -> None:
    with in_linear_time():
        found = printed("".join(f"12{number} ms a/b{number}.py " for number in range(LONG // 40)))
    assert [one.about for one in found if one.text == "12500 ms"] == ["a/b500.py"]


def test_a_number_is_about_the_nearest_path_of_its_line() -> None:
    text = "a/far.py and a/left.py: 12 ms, but then in the end a/right.py\n31 ms\nb/next.py 7 ms\n8 ms b/behind.py"
    found = {one.key: one.about for one in printed(text) if one.kind is FactKind.NUMBER}
    assert found == {"12 ms": "a/left.py", "31 ms": "", "7 ms": "b/next.py", "8 ms": "b/behind.py"}


@pytest.mark.parametrize("text", ["a/b.py is gone. 20 lines are new", "`a/b.py`被加回来。那 20 行是新的"])
def test_a_number_is_not_about_the_path_of_another_sentence(text: str) -> None:
    assert [one.about for one in printed(text) if one.kind is FactKind.NUMBER] == [""]


def test_very_many_addresses() -> None:
    with in_linear_time():
        assert len(printed("".join(f"http://a.example/{number} " for number in range(20_000)))) == 20_000


def test_the_rest_of_a_longer_address_is_no_path() -> None:
    found = printed("See https://a.example and https://a.example/src/app.py")
    assert [one.kind for one in found] == [FactKind.URL, FactKind.URL]


@pytest.mark.parametrize("one", ["果/a.py", "果", "é", "é/a.py;", "/"])
def test_very_many_folders_in_another_script(one: str) -> None:
    text = one * (LONG // len(one)) + "/果/a.py"
    with in_linear_time():
        assert len(list(forms.paths(text))) <= LONG


def test_very_many_quoted_paths() -> None:
    text = "".join(f"'/a/b c{number}.py' " for number in range(20_000))
    with in_linear_time():
        found = list(spaced_paths(text, ""))
        assert len(found) == 20_000
        assert without(text, found).strip("' ") == ""
    assert len(without(text, found)) == len(text)


def test_a_path_of_very_many_folders() -> None:
    path = "a/" * LONG + "b.py"
    call = {"type": "toolCall", "id": "a", "name": "Read", "arguments": {"file_path": path}}
    with in_linear_time():
        found = FactReader("/x").read(AT, {"role": "assistant", "content": [call]})
    assert not found
    deep = "a/" * 2_000 + "b.py"
    keys = [f"{number}/{deep}" for number in range(100)]
    with in_linear_time():
        assert not values.whole_paths(keys)
    assert values.whole_paths([deep, f"src/{deep}"]) == {deep: f"src/{deep}"}


def test_a_number_said_of_very_many_files() -> None:
    seen = [
        Sighting(FactKind.NUMBER, "12 ms", "12 ms", Voice.OUTPUT, AT, about=f"{number % 30_000}.py")
        for number in range(40_000)
    ]
    with in_linear_time():
        [fact] = values.gather(seen)
    assert (len(fact.about), fact.about[:2]) == (30_000, ["0.py", "1.py"])


def test_very_many_rules_after_a_long_reply() -> None:
    reader = FactReader("/x")
    reader.read(AT, {"role": "assistant", "content": [{"type": "text", "text": "words of it " * 10_000}]})
    rules = "\n".join(
        f"- The {number} of all files in the folder must be kept small" for number in range(500)
    )
    with in_linear_time():
        found = reader.read(EntryIndex(1), {"role": "user", "content": rules})
    assert sum(one.kind is FactKind.CONSTRAINT for one in found) == 500


def test_a_whole_list_of_very_many_steps() -> None:
    steps = [f"port part {number} of the lexer" for number in range(100, 5_100)]
    with in_linear_time():
        found = FactReader("/x").read(AT, plan_call(steps))
    assert sum(one.kind is FactKind.TODO for one in found) == len(steps)


def test_a_list_of_very_many_steps_made_one_by_one() -> None:
    made, done = [], []
    for number in range(3_000):
        made += [
            reply("", (f"m{number}", "TaskCreate", {"subject": f"port part {number}00"})),
            result(f"m{number}", f"Task #{number} created successfully: port part {number}00"),
        ]
        done += [
            reply("", (f"d{number}", "TaskUpdate", {"taskId": str(number), "status": "completed"})),
            result(f"d{number}", f"Updated task #{number} status"),
        ]
    reader = FactReader("/x")
    with in_linear_time():
        found = [one for message in [*made, *done] for one in reader.read(AT, message)]
    assert sum(one.kind is FactKind.TODO for one in found) == 6_000
    assert not reader.plan.open


def test_a_long_answer_about_a_list_of_very_many_steps() -> None:
    reader = FactReader("/x")
    reader.read(AT, plan_call([f"port part {number} of the lexer" for number in range(100, 700)]))
    answer = (
        "\n".join(f"Moved thing {number} of the lexer." for number in range(600))
        + "\nPorted part 500 of the lexer."
    )
    with in_linear_time():
        found = reader.read(
            EntryIndex(1), {"role": "assistant", "content": [{"type": "text", "text": answer}]}
        )
    assert [one.text for one in found if not one.is_open] == ["port part 500 of the lexer"]


def holds_all(text: str, facts: Sequence[Fact]) -> list[FactMatch]:
    held = FactText(text)
    with in_linear_time():
        return [held.holds(fact) for fact in facts]


def test_very_many_hashes_with_fewer_digits() -> None:
    text = " ".join(f"{number:07x}a1" for number in range(20_000))
    keys = [f"{number:07x}{end}" for number in (0, 7, 19_999) for end in ("", "a", "a1", "a1ff", "b")]
    facts = [Fact(FactKind.IDENTIFIER, key, key, AT, Voice.CALL) for key in keys]
    facts += [
        Fact(FactKind.IDENTIFIER, f"{number:07x}b", f"{number:07x}b", AT, Voice.CALL)
        for number in range(20_000)
    ]
    found = holds_all(text, facts)
    assert found[:15] == [*(4 * [FactMatch.VERBATIM]), FactMatch.ABSENT] * 3


def test_very_many_counts_of_files() -> None:
    text = "\n".join(f"a/b{number}.py {number + 100} lines" for number in range(4_000))
    facts = [
        Fact(
            FactKind.NUMBER,
            f"{number}77 line",
            f"{number}77 lines",
            AT,
            Voice.CALL,
            about=[f"c/b{number}.py"],
        )
        for number in range(100, 4_000)
    ]
    assert set(holds_all(text, facts)) == {FactMatch.CONTRADICTED}


def test_very_many_open_steps() -> None:
    text = "\n".join(f"- [{' x'[number % 2]}] port part {number}00 of it" for number in range(2_000))
    facts = [
        Fact(FactKind.TODO, f"port part {number}00", f"port part {number}00 of it", AT, Voice.CALL)
        for number in range(2_000)
    ]
    assert holds_all(text, facts)[:2] == [FactMatch.VERBATIM, FactMatch.CONTRADICTED]


def test_a_step_that_was_told_again_with_another_spelling_is_done_once() -> None:
    """Both spellings wait for the step, and one change may show both."""

    def named(text: str) -> list[Sighting]:
        word = text.split()[1]
        return [Sighting(FactKind.IDENTIFIER, word, word, Voice.TOLD, AT)]

    steps = ToldSteps(named)
    for text in ("Port readAll", "Port ReadAll"):
        steps.tell([Sighting(FactKind.TODO, "port readall", text, Voice.TOLD, AT)])
    closed = list(steps.changed((), ["ReadAll", "readAll"], AT))
    assert [one.text for one in closed] == ["Port ReadAll"]


@pytest.mark.parametrize("text", ["Analysis:\n" * 20_000, "Analysis:" + "\n" * LONG])
def test_a_summary_with_drafts_that_do_not_end(text: str) -> None:
    with in_linear_time():
        list(outline_lines(text))


def test_a_summary_after_its_draft() -> None:
    lines = list(outline_lines("Analysis:\nThe draft.\n\nSummary:\n## Goal\nPort it.\nSummary:\n- Done."))
    assert [line.text for line in lines] == ["Port it.", "Summary:", "Done."]


@pytest.mark.parametrize("tail", ["summar " * 30_000, "summar" + ":" * LONG])
def test_a_long_line_after_the_opening_of_a_summary(tail: str) -> None:
    opening = "This session is being continued from a previous conversation that ran out of context.\n"
    with in_linear_time():
        assert unframed(opening + tail) == tail
    said = "The conversation is summarized below:\n"
    assert unframed(f"{opening}{said}## Goal") == "## Goal"


def test_very_many_combining_marks() -> None:
    with in_linear_time():
        assert harmless("e" + "\u0301\u0323" * LONG, 80)


def test_very_many_bounds_in_a_line() -> None:
    with in_linear_time():
        assert is_contrary("Use at most 3 workers", "at least " * (LONG // 9))
    assert not is_contrary("Use at most 3 workers", "Do not use more than 3 workers")


def test_the_facts_of_a_session_in_a_folder_with_an_endless_name() -> None:
    folder = "/" + "a b" * LONG
    with in_linear_time():
        found = TextFacts(folder).by_form(f"edit src/pears.py in {folder}", Voice.OUTPUT, AT)
    assert any(one.text == "src/pears.py" for one in found)


@pytest.mark.parametrize("line", [" " * LONG + "x", "Wall time: " + "a " * LONG, "=-" * LONG + "x"])
def test_the_last_line_of_an_output_that_looks_like_none(line: str) -> None:
    with in_linear_time():
        list(printed_errors(f"it broke\n{line}", failed=True))


@pytest.mark.parametrize(
    "prompt", ["continue " * LONG + "x", "ok, " * LONG + "?", "继续" * LONG + "x", "I'll run " + "a " * LONG]
)
def test_a_prompt_that_only_begins_like_one_to_go_on(prompt: str) -> None:
    with in_linear_time():
        responses.keeps_going(prompt)
        orders_agent(prompt)
