"""Requests that are called off, corrected, answered or left open by later words; next steps that answers tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

DONE, NEXT, GOAL = SummarySection.DONE, SummarySection.NEXT, SummarySection.GOAL
BLOCKED, CONTEXT, RULES = SummarySection.BLOCKED, SummarySection.CONTEXT, SummarySection.CONSTRAINTS


def failed(key: str, command: str, printed: str) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed, failed=True)]


def test_a_request_that_was_never_answered_is_not_done() -> None:
    said = [
        user("Speed up the parser of orchard by a cache"),
        *worked("src/parser.py", "a"),
        *failed("b", "pytest -q", "FAILED tests/test_parser.py::test_deep\n1 failed, 11 passed"),
        *ran("c", "git stash"),
        user("ok leave it. Instead document the parser in docs/parser.md"),
        *worked("docs/parser.md", "d"),
        reply("Wrote docs/parser.md."),
    ]
    assert not any("by a cache" in line for line in told_in(DONE, *said))


@pytest.mark.parametrize(
    "later",
    [
        "stop. do not port it, only measure how long it takes",
        "No, don't port the lexer. Tell me how long it takes instead",
        "lass den Lexer bleiben. Miss nur die Zeit",
    ],
)
def test_work_that_the_user_calls_off_is_no_goal(later: str) -> None:
    said = [
        user("Port the lexer of orchard to a table"),
        *worked("src/lexer.py", "a"),
        user("[Request interrupted by user]"),
        user(later),
        *ran("b", "python bench.py"),
    ]
    assert not any(line.startswith("Port the lexer") for line in told_in(GOAL, *said))


def test_a_request_that_another_way_replaces_is_no_goal() -> None:
    said = [
        user("Design a GraphQL API for the orchard shop with products, orders and customers"),
        reply("Here is a schema with three types. Should I go on with the mutations?"),
        user("Actually let us do REST instead of GraphQL, the team does not know it"),
        reply("Here are the routes. Should I add pagination?"),
        user("yes with cursors, and show me how errors look"),
    ]
    (goal,) = told_in(GOAL, *said)
    assert goal.startswith("let us do REST instead of GraphQL")


def test_in_a_talk_the_first_request_is_no_goal_once_others_were_answered() -> None:
    said = [
        user(
            "Design a REST API for the orchard shop: products, orders and customers, with good error messages"
        ),
        reply("Here is a design: `/products`, `/orders`, `/customers`. Shall I add authentication?"),
        user("Yes. And I prefer cursors to page numbers, because the tables grow"),
        reply("With cursors: `GET /orders?after=…`. Authentication by bearer tokens."),
        user("Now write the document for the orders part"),
    ]
    assert told_in(GOAL, *said) == ["write the document for the orders part"]
    assert told_in(GOAL, *said, reply("This describes the orders part.")) == [GOT_REPLY]


@pytest.mark.parametrize(
    "answer",
    [
        "The lexer is ported. Next: port the printer, then remove the old parser.",
        "The lexer is ported.\n\nNext steps:\n- port the printer\n- remove the old parser",
    ],
)
def test_a_told_next_step_leaves_the_request_open(answer: str) -> None:
    said = [user("Move orchard to the new parser"), *worked("src/p.py", "a"), reply(answer)]
    (goal,) = told_in(GOAL, *said)
    assert goal.startswith("Last request: Move orchard to the new parser → ")
    (step,) = told_in(NEXT, *said)
    assert "port the printer" in step


def test_a_prompt_that_goes_on_with_the_one_before_stands_with_it() -> None:
    said = [
        user("we need a section on themes in the readme of orchard"),
        user("needs to be set to 1 for true colours"),
        *worked("README.md", "a"),
        reply("Added a section on themes to the readme."),
        user("now the changelog of the last release"),
        *worked("CHANGELOG.md", "b"),
    ]
    asked = [line for line in told_in(DONE, *said) if line.startswith("Asked")]
    assert asked == [
        "Asked: we need a section on themes in the readme of orchard; needs to be set to 1 for true colours → the reply says: “Added a section on themes to the readme.”"
    ]


@pytest.mark.parametrize(
    "report", ["it still fails with a 500", "still hangs at the login", "immer noch derselbe Fehler"]
)
def test_what_the_user_says_still_fails_is_not_mended(report: str) -> None:
    said = [
        user("Fix the login of orchard"),
        *worked("src/login.py", "a"),
        reply("Fixed: the login works again. All tests pass."),
        user(report),
        *worked("src/login.py", "b"),
    ]
    assert not any("works again" in line for line in told_in(DONE, *said))


def test_the_answer_to_a_question_of_the_models_ends_the_request() -> None:
    said = [
        user("Set up the database of orchard"),
        reply("Which one do you want, Postgres or SQLite?"),
        user("SQLite"),
        *worked("db.py", "a"),
        reply("Set up SQLite in db.py."),
    ]
    assert told_in(GOAL, *said) == [GOT_REPLY]
    (done,) = told_in(DONE, *said)
    assert done.startswith("Last request, answered: Set up the database of orchard → ")


@pytest.mark.parametrize(
    ("asked", "first", "then", "second"),
    [
        ("Setze den Port von orchard auf 8080", "Der Standardport ist jetzt 8080.", "nein, ich meinte 9090", ""),
        ("Mets le port d'orchard à 8080", "Le port par défaut est maintenant 8080.", "non, 9090", ""),
        ("Поставь порт orchard 8080 по умолчанию", "Порт по умолчанию теперь 8080.", "нет, 9090", ""),
        ("把 orchard 的默认端口设为 8080", "默认端口已改为 8080。", "不对,改成 9090", ""),
        ("orchard の既定ポートを 8080 にしてください", "既定ポートを 8080 に変更しました。", "いいえ、9090 にしてください", ""),
    ],
)  # fmt: skip
def test_a_correction_in_any_language_ends_what_it_corrects(
    asked: str, first: str, then: str, second: str
) -> None:
    second = first.replace("8080", "9090")
    said = [user(asked), *worked("s.py", "a"), reply(first), user(then), *worked("s.py", "b"), reply(second)]
    assert told_in(GOAL, *said) == [GOT_REPLY]
    assert first.rstrip(".。") not in "\n".join(told_in(DONE, *said))


@pytest.mark.parametrize(
    ("asked", "answer", "step"),
    [
        ("Pasa orchard al nuevo parser", "El lexer ya está. Próximo paso: portar el impresor.", "impresor"),
        ("把 orchard 换到新的解析器", "词法分析器已完成。下一步:移植打印器。", "打印器"),
        ("orchard を新しいパーサーに移してください", "字句解析器を移しました。次はプリンターを移します。", "プリンター"),
        ("Переведи orchard на новый парсер", "Лексер переведён. Осталось: принтер и документация.", "принтер"),
    ],
)  # fmt: skip
def test_a_next_step_in_another_language_leaves_the_request_open(asked: str, answer: str, step: str) -> None:
    said = [user(asked), *worked("s.py", "a"), reply(answer)]
    (goal,) = told_in(GOAL, *said)
    assert goal.startswith(f"Last request: {asked} → ")
    assert step in "\n".join(told_in(NEXT, *said))


def test_failures_told_in_russian_leave_the_request_open() -> None:
    said = [user("Почини тесты orchard"), *worked("s.py", "a"), reply("Два теста всё ещё падают: test_deep и test_wide.")]  # fmt: skip
    (goal,) = told_in(GOAL, *said)
    assert (
        goal
        == "Last request: Почини тесты orchard → the reply says: “Два теста всё ещё падают: test_deep и test_wide.”"
    )


def test_a_result_that_the_user_accepts_as_it_is_ends_the_request() -> None:
    said = [
        user("Port the lexer of orchard to a table"),
        *worked("src/lexer.py", "a"),
        reply("test_old fails, because it tests the old lexer."),
        user("that is fine, delete that test"),
        *ran("b", "rm tests/test_old.py"),
        reply("Deleted the test and committed."),
    ]
    assert told_in(GOAL, *said) == [GOT_REPLY]


def test_a_word_on_how_to_take_an_offer_is_no_goal() -> None:
    said = [
        user("Stelle orchard um, erst einen Plan"),
        reply("1. Lexer umstellen\n2. Cache bauen\n3. Doku schreiben\n\nSoll ich anfangen?"),
        user("ja, aber ohne den Cache"),
        *worked("src/lexer.py", "a"),
    ]
    (goal,) = told_in(GOAL, *said)
    assert goal.startswith("Stelle orchard um")


def test_a_pasted_log_of_a_pipeline_is_no_goal() -> None:
    log = (
        "##[error]Process completed with exit code 1.\nFAILED tests/test_lexer.py::test_tabs - assert 3 == 4"
    )
    said = [
        user("Port the lexer of orchard to a table"),
        *worked("src/lexer.py", "a"),
        reply("Ported the lexer to a table."),
        user(log),
        *worked("src/lexer.py", "b"),
    ]
    assert told_in(GOAL, *said) == ["Port the lexer of orchard to a table"]


def test_what_an_answer_says_comes_next_is_only_planned_once_other_work_was_asked_for() -> None:
    said = [
        user("Move the lexer of orchard to the new parser"),
        *worked("src/lexer.py", "a"),
        reply("Ported the lexer. Next steps (in order):\n- port the printer\n- remove the old parser"),
        user("first make the report of the crates shorter"),
        *worked("src/report.py", "b"),
    ]
    assert told_in(NEXT, *said) == []
    (goal,) = told_in(GOAL, *said)
    assert "the report of the crates shorter" in goal


def test_a_question_about_next_steps_is_no_step() -> None:
    said = [
        user("Move the lexer of orchard to the new parser"),
        *worked("src/lexer.py", "a"),
        reply("Ported the lexer. Want to test more of the parser or move on to next steps?"),
        user("which tests are there for the lexer?"),
        reply("Two: one for the table, one for the tree."),
    ]
    assert "Want to test more" not in "\n".join(told_in(CONTEXT, *said) + told_in(NEXT, *said))


def test_what_comes_next_leaves_the_request_open_that_was_answered_with_it() -> None:
    said = [
        user("Move the modes of orchard to one session, plan first"),
        *worked("plan.md", "a"),
        reply("The plan is in plan.md."),
        user("same for the queued messages? they belong into the session of orchard"),
        *worked("src/queue.py", "b"),
        user("how about you write a brand new mode on top of the session?"),
        *worked("src/mode.py", "c"),
        reply("Wrote the new mode. Next steps (WP17 and WP18):\n- move the widgets\n- write the docs"),
    ]
    (goal,) = told_in(GOAL, *said)
    assert "brand new mode" in goal
