"""Spans that somebody made so long or so uniform that a summary of them would take quadratic time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.entries import EntryIndex, ToolCall
from leafward.summaries.facts.calls.outcomes import ran_no_tests
from leafward.summaries.facts.sentences import pasting
from leafward.summaries.summarizers.extractive.answers import passages
from leafward.summaries.summarizers.extractive.earlier_summary.carried_goals import sorted_out
from leafward.summaries.summarizers.extractive.state import lookups
from leafward.summaries.summarizers.extractive.state.gone_files import gone_files
from leafward.summaries.summarizers.extractive.turns import turns_of
from leafward.summaries.summarizers.outline import SummarySection, named_files
from leafward.summaries.survival.spans import SpanMessage
from tests.core.linear_time import in_linear_time
from tests.core.told import reply, result, span, summarize, told_in, user

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def word(number: int) -> str:
    return f"{WORDS[number % len(WORDS)]}{number}"


def test_an_output_of_blank_lines_that_ran_no_tests() -> None:
    with in_linear_time():
        assert ran_no_tests("pytest", f"x{chr(10) * 50_000}no tests ran")


@pytest.mark.parametrize("fence", ["```\na\n```\n", "```\na\n"])
def test_a_prompt_of_blank_lines_with_code(fence: str) -> None:
    prompt = SpanMessage(EntryIndex(0), user(f"port it\n{fence}{chr(10) * 50_000}now"))
    with in_linear_time():
        assert turns_of([prompt])[0].text.startswith("port it")


def test_a_command_whose_text_is_lines_without_a_word() -> None:
    head = "## User Input\n```text\n```\nconsider the user input before proceeding\n"
    with in_linear_time():
        own, _ = pasting.divided(f"{head}---{(chr(10) + '-') * 30_000}\nport the parser")
    assert own == "port the parser\n"


def test_a_command_of_very_many_options() -> None:
    with in_linear_time():
        assert lookups.asks(f"git {'-x ' * 100_000}log")


def test_a_command_of_very_many_names_of_a_program() -> None:
    with in_linear_time():
        summarize(span(user("port it"), *ran("a", "python -" * 8_000)))


def test_very_many_changed_files_have_their_names() -> None:
    with in_linear_time():
        named = named_files([*(f"src/f{number}.py" for number in range(20_000)), "src/a.py", "lib/a.py"])
    assert named == "`f0.py`, `f1.py`, `f2.py` and 19,999 more"
    assert named_files(["src/a.py", "lib/a.py"]) == "`src/a.py`, `lib/a.py`"


def test_very_many_goals_that_all_call_themselves_the_newest() -> None:
    goals = [f"Latest current request: port {word(number)}" for number in range(20_000)]
    with in_linear_time():
        sorted_out_goals = sorted_out(goals, [], answered=False)
    assert [goal for goal, (section, _) in sorted_out_goals.items() if section is SummarySection.GOAL] == [
        goals[-1]
    ]


def test_what_follows_code_with_other_line_ends_is_asked_too() -> None:
    prompt = "Look at this:\r\n```\r\nx = 1\r\n```\r\nPort the parser to a table, and keep its tests."
    goals = told_in(SummarySection.GOAL, user(prompt))
    assert "Port the parser to a table" in goals[0]


def changed(key: str, path: str = "src/a.py") -> list[dict[str, Any]]:
    return [reply("", (key, "edit", {"path": path, "oldText": "x", "newText": "y"})), result(key, "ok")]


def asked_back(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"Please port the {word(number)} module to tables")
    yield from changed(f"e{number}", f"src/f{number}.py")
    yield reply(f"I looked at it. Which {word(number)} name do you mean?")


def only_told(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"What remains for the {word(number)} thing")
    yield reply(f"The {word(number)} parser still needs to be fixed for {word(number + 1)} files.")


def worked_on(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"Please port the {word(number)} module to tables")
    yield from changed(f"e{number}", f"src/f{number}.py")
    yield reply(
        f"I ported it. The {word(number)} parser still needs to be fixed for {word(number + 1)} files."
    )


def cancelled(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"Skip the {word(number)} {word(number + 1)} module")
    yield reply(f"The {word(number)} parser still needs to be fixed for {word(number + 1)} files.")


def valued(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"Please tune the {word(number)} module")
    yield from changed(f"e{number}", f"src/f{number}.py")
    yield reply(
        f"Changed the {word(number)} timeout to {number} seconds. I removed the {word(number)} module."
    )


def ruled(number: int) -> Iterator[dict[str, Any]]:
    yield user(f"Keep the {word(number)} table. Then delete the {word(number + 1)} list.")
    yield reply("ok")


@pytest.mark.parametrize(
    ("turn", "times"),
    [
        (asked_back, 1_300),
        (only_told, 2_000),
        (worked_on, 1_400),
        (cancelled, 2_000),
        (valued, 1_400),
        (ruled, 1_500),
    ],
)
def test_very_many_requests_of_one_kind(turn: Any, times: int) -> None:
    messages = [message for number in range(times) for message in turn(number)]
    with in_linear_time():
        made = summarize(span(*messages))
    assert word(times - 1) in made.text


def ran(key: str, command: str, printed: str = "ok") -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed)]


def committed(number: int) -> Iterator[dict[str, Any]]:
    yield from changed(f"e{number}", f"src/f{number}.py")
    command = f"git commit -am 'Port the {word(number)} module'"
    yield from ran(f"c{number}", command, f"[main {number:07x}] Port")


def restored(number: int) -> Iterator[dict[str, Any]]:
    yield from changed(f"e{number}", f"src/f{number}.py")
    yield from ran(f"g{number}", f"git checkout -- src/f{number}.py")


def reset_away(number: int) -> Iterator[dict[str, Any]]:
    yield from committed(number)
    yield from ran(f"r{number}", "git reset --hard HEAD~1")


@pytest.mark.parametrize(
    ("work", "times", "end"),
    [
        (committed, 1_500, "git status"),
        (committed, 1_500, "git reset --hard abcdef1"),
        (restored, 2_500, "git status"),
        (reset_away, 1_500, "git status"),
    ],
    ids=["commits", "reset", "restored", "each reset"],
)
def test_very_many_calls_of_one_kind(work: Any, times: int, end: str) -> None:
    done = [message for number in range(times) for message in work(number)]
    with in_linear_time():
        made = summarize(span(user("Port it all to tables"), *done, *ran("z", end)))
    assert "Port it all to tables" in made.text
    assert ("Committed: " in made.text) == (work is committed and end == "git status")


def test_a_file_of_very_many_names() -> None:
    content = "\n".join(f"value_{word(number)} = call_{word(number)}(x)" for number in range(12_000))
    wrote = reply("", ("w", "write", {"path": "a.py", "content": content}))
    with in_linear_time():
        made = summarize(span(user("Write it all"), wrote, result("w", "ok")))
    assert "`a.py`" in made.text


def test_very_many_limits_on_an_open_request() -> None:
    asked = "\n".join(f"The form number{number} must have one row." for number in range(6_000))
    with in_linear_time():
        summarize(span(user(f"Fix the list.\n\n{asked}"), reply("", ("a", "read", {"path": "a.py"}))))


def test_an_answer_of_very_many_long_lines_that_each_go_on() -> None:
    with in_linear_time():
        assert passages.quotable("a1 b2_c3 " * 110 + ("\nc3 b2_c3" + " b2_c3" * 150) * 1_000) == ()


def test_very_many_lists_of_a_folder_of_very_many_deleted_files() -> None:
    calls: dict[int, list[ToolCall]] = {}
    said = [user("clean up")]
    for number in range(6_000):
        command = f"rm src/m{number}.py" if number < 3_000 else "ls src"
        said += [reply("", (str(number), "bash", {"command": command})), result(str(number), "a.py\nm1.py")]
        calls[len(said) - 2] = [ToolCall(str(number), "bash", {"command": command})]
    messages = span(*said).messages
    with in_linear_time():
        gone = gone_files(messages, calls, frozenset(), "")
    assert len(gone) == 2_999


@pytest.mark.parametrize(
    "removed", ["rm web/q{0}*.py", "rm web/q{0}.py && make"], ids=["patterns", "before a program"]
)
def test_very_many_removals_beside_very_many_written_files(removed: str) -> None:
    write = {
        number: [ToolCall("w", "write", {"path": f"src/f{number}.py", "content": "x"})]
        for number in range(2_000)
    }
    remove = {
        2_000 + number: [ToolCall("r", "bash", {"command": removed.format(number)})]
        for number in range(2_000)
    }
    messages = span(*[reply("")] * 4_000).messages
    with in_linear_time():
        assert gone_files(messages, write | remove, frozenset(), "/x") == {}
