"""Rules, single requests and next steps, in sessions of people who write in any language and in any manner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts import demands, prose
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.report import facts_of
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import FOLDER, lines_of, reply, result, span, summarize, told_in, user

if TYPE_CHECKING:
    from typing import Any

PLAN = "Write a plan in docs/plan.md, it must name every file of the orchard."
"""A demand on the plan stands until it is met."""


def edit(path: str, key: str) -> list[dict[str, Any]]:
    given = {"path": path, "oldText": "x", "newText": f"def parse_{key}(): ..."}
    return [reply("", (key, "edit", given)), result(key, "ok")]


def rules(*messages: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.CONSTRAINTS, *messages)


def held(messages: list[dict[str, Any]]) -> list[str]:
    """The rules that a compaction of these messages can lose."""
    said = [SpanMessage(EntryIndex(10 + place), message) for place, message in enumerate(messages)]
    return [fact.text for fact in facts_of(said, FOLDER) if fact.kind is FactKind.CONSTRAINT]


@pytest.mark.parametrize(
    ("order", "answer"),
    [
        (PLAN, "Done. It names all twelve. Shall I begin?"),
        ("create a plan for the orchard. then it needs to have steps in the best order", "Done."),
        ("alright, createa full plan for the orchard, it needs to cover every row", "Done."),
        ("For this commit you must leave out the frost table.", "Committed without it."),
        ("Schreib einen Bericht in docs/frost.md, er muss alle Zahlen enthalten.", "Erledigt."),
        (
            "Rédige un rapport dans docs/gel.md, il doit contenir tous les chiffres.",
            "Terminé. Voulez-vous lire ?",
        ),
        ("写一份报告到 docs/frost.md，它必须包含所有数字。", "已完成。"),
    ],
)
def test_what_one_order_demands_is_no_rule_once_it_was_answered(order: str, answer: str) -> None:
    asked = [user(order), *edit("docs/plan.md", "a")]
    assert held(asked)
    later = [*asked, reply(answer), user("Now prune the rows of the orchard."), *edit("src/rows.py", "b")]
    assert rules(*later) == []
    assert not held(later)


@pytest.mark.parametrize(
    "remark",
    [
        "should be dimmer, don't touch the theme, look into the footer",
        "the link text should be the same as the accent of rows",
        "make sure the frost color is also used.",
        "bitte mach die Überschrift größer, der Rand soll nicht kleiner werden",
        "le titre doit être plus petit",
        "el título debe ser más oscuro",
        "标题应该更大",
        "the toggle should be a bit to the left",
    ],
)
def test_a_remark_on_one_change_is_no_rule_once_it_was_answered(remark: str) -> None:
    asked = [user(remark), *edit("src/rows.py", "a")]
    later = [*asked, reply("Done."), user("Now prune the rows of the orchard."), *edit("src/rows.py", "b")]
    assert rules(*later) == []


def test_what_a_request_spares_binds_until_it_was_answered() -> None:
    wish = "I want this:\n- keep the rows grouped by frost (as default)\n- remove the fence completely\n- keep all the colors we made"
    asked = [user(wish), *edit("src/rows.py", "a")]
    assert len(rules(*asked)) == 2
    later = [*asked, reply("Done."), user("Now prune the rows of the orchard."), *edit("src/rows.py", "b")]
    assert rules(*later) == []


@pytest.mark.parametrize(
    "rule",
    [
        "Lines should be shorter than 100 characters.",
        "Rules:\n1. Use tabs for indentation\n2. Keep the public API stable\n3. Only use the standard library",
        "Build a table of the orchard.\n- it should use Python 3.8\n- add a --json flag",
        "keep logging enabled in all rows",
    ],
)
def test_what_is_measured_by_itself_stays_a_rule(rule: str) -> None:
    asked = [user(rule), *edit("src/rows.py", "a"), reply("Done.")]
    assert rules(*asked, user("Now prune the rows of the orchard."), *edit("src/rows.py", "b"))


@pytest.mark.parametrize(
    ("rule", "back"),
    [
        ("Never touch src/config.py.", "Actually, you can touch src/config.py now."),
        ("We must not write unit tests.", "forget the rule about unit tests"),
        ("Keep the old API stable.", "You don't need to keep the old API any more."),
        ("Never write unit tests.", "unit tests are fine now"),
        ("Keine neuen Abhängigkeiten einführen", "neue Abhängigkeiten sind jetzt erlaubt"),
        ("ne touche pas à src/gel.py", "tu peux maintenant toucher à src/gel.py"),
        ("不要修改配置文件", "现在可以修改配置文件了"),
    ],
)
def test_a_rule_that_the_user_takes_back_is_out(rule: str, back: str) -> None:
    asked = [user(f"{rule} Port the parser of the orchard."), *edit("src/rows.py", "a"), reply("Done.")]
    asked = [user(rule), *asked]
    later = [*asked, user(back), *edit("src/rows.py", "b")]
    assert rules(*asked)
    assert not any(rule.rstrip(".") in line for line in rules(*later))
    assert not any(rule.rstrip(".") in fact for fact in held(later))
    previous = f"## Constraints & Preferences\n- {rule}\n"
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    assert told_in(SummarySection.CONSTRAINTS, *later[-3:], **more) == []


@pytest.mark.parametrize(
    "more", ["you can run the tests now", "you can use requests after all", "it is fine"]
)
def test_who_allows_something_else_takes_no_rule_back(more: str) -> None:
    asked = [user("Never touch src/config.py. Always run mypy."), *edit("src/rows.py", "a"), reply("Done.")]
    assert len(rules(*asked, user(more), *edit("src/rows.py", "b"))) == 2


@pytest.mark.parametrize("prompt", ["Keep going after the fill", "keep working on the rows of frost"])
def test_who_wants_more_of_the_same_sets_no_rule(prompt: str) -> None:
    assert not demands.demands(prompt)


def test_what_was_said_before_the_answer_belongs_to_the_order() -> None:
    asked = [user(PLAN), reply("", ("a", "read", {"path": "docs/plan.md"})), result("a", "x")]
    asked += [user("this plan must be readable without the code"), *edit("docs/plan.md", "b"), reply("Done.")]
    assert rules(*asked, user("Now prune the rows."), *edit("src/rows.py", "c")) == []


@pytest.mark.parametrize(
    "rule",
    [
        "You must never touch src/frost.py in this commit or any other.",
        "Write a plan in docs/plan.md, and always keep it sorted.",
        "Every function must have a docstring.",
        "it must run without a network",
    ],
)
def test_what_holds_for_more_than_one_order_stays(rule: str) -> None:
    asked = [user(rule), *edit("src/rows.py", "a"), reply("Done.")]
    assert len(rules(*asked, user("Now prune the rows."), *edit("src/rows.py", "b"))) == 1


@pytest.mark.parametrize(
    "remark",
    [
        "i think the table doesn't keep to the invariant that no row must be wider than the screen",
        "nein, das stimmt nicht, es ist immer noch langsam",
        "non, c'est faux, c'est toujours lent",
        "das funktioniert auf meinem Rechner leider nicht richtig",
        "ça ne marche pas chez moi avec de gros fichiers",
        "这个解析器特别慢，不能用",
        "src/rows.py に表を実装してください。",
    ],
)
def test_a_remark_in_the_words_of_a_rule_is_none(remark: str) -> None:
    assert not demands.demands(remark)


@pytest.mark.parametrize(
    "rule",
    [
        "Keine neuen Abhängigkeiten einführen",
        "bitte die alte Tabelle nicht löschen",
        "Fehler müssen immer die Zeilennummer nennen",
        "ne touche pas à la vieille table",
        "les erreurs doivent indiquer le numéro de ligne",
        "不要引入新的依赖",
        "新しい依存関係は追加しないでください。",
        "外部ライブラリは使わないでください。",
        "N'utilise pas d'offset.",
    ],
)
def test_a_rule_of_another_language_is_one(rule: str) -> None:
    assert demands.demands(rule)


@pytest.mark.parametrize(
    "prompt", ["actually, can you revert that? i want both", "mach das bitte rückgängig", "撤销刚才的修改"]
)
def test_words_that_take_back(prompt: str) -> None:
    assert demands.takes_back(prompt)


@pytest.mark.parametrize(
    ("before", "answer", "then"),
    [
        (
            "if i run it again now i still see 38 rows of the orchard",
            "The filter is working now.",
            "draw the lanes of the orchard",
        ),
        ("why do you read 100 rows at a time", "Because of the pages.", "draw the lanes of the orchard"),
        (
            "warum ist das bei großen Dateien so langsam",
            "Wegen der Regex.",
            "zeichne die Reihen der Plantage",
        ),
        ("不对，还是很慢，请再看看", "原因是正则表达式。", "现在处理嵌套表的解析"),
        (
            "write a report in docs/frost.md with all numbers",
            "Done. All numbers are in it.",
            "ok now nested tables",
        ),
    ],
)
def test_the_goal_is_what_was_asked_last_where_the_rest_is_over(before: str, answer: str, then: str) -> None:
    asked = [user(before), *edit("src/rows.py", "a"), reply(answer), user(then), *edit("src/lanes.py", "b")]
    (goal,) = told_in(SummarySection.GOAL, *asked)
    assert goal == demands.without_fillers(then)


def test_what_was_broken_off_is_over_where_the_answer_to_the_next_says_so() -> None:
    asked = [user("i think the queue of the orchard draws rows that are too wide"), *edit("src/rows.py", "a")]
    asked += [user("truncated text must stop at a new line"), *edit("src/rows.py", "b")]
    asked += [reply("Done. Both are fixed.")]
    for number, more in enumerate(
        ("Port the lexer of orchard to a table", "Port its parser to the same table")
    ):
        asked += [user(more), *edit("src/table.py", f"c{number}")]
    (goal,) = told_in(SummarySection.GOAL, *asked)
    assert goal.startswith("Port the lexer")


def test_a_step_that_the_user_asked_for_since_is_next_no_more() -> None:
    for step, then in (
        ("Next we still need to handle nested tables.", "ok now nested tables"),
        ("接下来还需要处理嵌套表。", "现在处理嵌套表"),
        ("Il reste à gérer les tables imbriquées.", "maintenant les tables imbriquées"),
    ):
        begun = [
            user("Write a parser for src/config.toml of orchard."),
            *edit("src/config.py", "a"),
            reply(f"Done.\n\n{step}"),
        ]
        assert step in told_in(SummarySection.NEXT, *begun)
        assert told_in(SummarySection.NEXT, *begun, user(then), *edit("src/nested.py", "b")) == []


def test_a_question_that_waits_for_the_user_is_told() -> None:
    for question in ("Should I go on with the lexer?", "要不要也支持数组？"):
        asked = [user("Port the parser of orchard to a table."), *edit("src/table.py", "a")]
        lines = told_in(
            SummarySection.IN_PROGRESS, *asked, reply(f"The parser is ported to a table. {question}")
        )
        assert sum(line.count(question) for line in lines) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The migration made 465 commits on Feb 5, and we added 53 more since.",
        "`rows_of` has been there since the initial commit, but it should be split.",
        "The test is failing because the path isn't stored, so we need it.",
        "The timing makes sense because packing moves trees and leaves tables.",
        "Verify that the commit gets a trailer because the table shows changes",
    ],
)
def test_what_is_seen_or_when_it_began_is_no_decision(sentence: str) -> None:
    assert not prose.decides(sentence)


def test_a_reason_is_one_still() -> None:
    assert prose.decides("We keep the table since it is smaller than the list.")


def test_what_was_going_on_when_a_summary_was_written_is_no_state() -> None:
    earlier = "## Critical Context\n- No errors yet in the lanes of the orchard (still in progress)\n- Lanes are drawn in front of rows\n"
    asked = [user("Port the parser of orchard to a table."), *edit("src/table.py", "a")]
    lines = told_in(SummarySection.CONTEXT, *asked, previous=earlier, previous_entry=EntryIndex(3))
    assert "Lanes are drawn in front of rows" in lines
    assert not any("still in progress" in line for line in lines)


def test_steps_that_lead_to_the_next_call_are_no_context() -> None:
    steps = "Now I need to:\n1. Add styles of lanes\n2. Draw them in `rows_of`\n3. Call it in `draw_all`"
    asked = [user("Draw the lanes of the orchard."), reply(steps, ("a", "read", {"path": "src/rows.py"}))]
    lines = told_in(
        SummarySection.CONTEXT,
        *asked,
        result("a", "x"),
        *edit("src/rows.py", "b"),
        reply("All lanes are drawn."),
    )
    assert not any("Add styles of lanes" in line for line in lines)


def test_a_request_that_points_at_what_was_pasted_names_it() -> None:
    pasted = "It works but there are warnings in the console:\nWarning: Two rows have the key `frost`.\n    at Rows (rows.ts:12)"
    (goal,) = told_in(SummarySection.GOAL, user(pasted), *edit("src/rows.ts", "a"))
    assert goal == "It works but there are warnings in the console: Warning: Two rows have the key `frost`."


def test_a_command_of_the_agent_that_led_to_work_was_asked_for() -> None:
    command = {"role": "user", "content": "<command-name>/review</command-name>", "typed": "/review"}
    asked = [
        user("push the branch and open a PR for it"),
        *edit("src/rows.py", "a"),
        reply("The PR is open."),
    ]
    lines = told_in(SummarySection.IN_PROGRESS, *asked, command, *edit("src/rows.py", "b"))
    assert "Last request: /review" in lines


def test_lines_that_were_quoted_are_no_request() -> None:
    quoted = "can you explain how these lanes of orchard are drawn:\n\n  > │ - 5952698 prune\n  > ╰ - a917ebd plant"
    made = summarize(span(user(quoted), *edit("src/lanes.py", "a")))
    goals = [line for section, line in lines_of(made) if section is SummarySection.GOAL]
    assert goals == ["can you explain how these lanes of orchard are drawn:"]


def test_what_was_only_offered_is_no_decision() -> None:
    offer = "The fix: replace `rows_of` with `draw_all` instead of counting rows twice. Want me to do that?"
    asked = [user("why does orchard draw rows twice"), *edit("src/rows.py", "a"), reply(offer)]
    wanted = "The fix: replace `rows_of` with `draw_all` instead of counting rows twice."
    told = told_in(SummarySection.DECISIONS, *asked, user("yes please"), *edit("src/rows.py", "b"))
    assert f"Said earlier: {wanted}" in told
    later = [user("which commit brought the second row of the orchard"), *edit("src/log.py", "c")]
    assert not any(wanted in line for line in told_in(SummarySection.DECISIONS, *asked, *later))
    assert not any(wanted in line for line in told_in(SummarySection.DECISIONS, *asked))


def test_what_the_user_is_pleased_with_is_no_goal() -> None:
    asked = [user("i want the lanes of orchard in a file of their own"), *edit("src/lanes.py", "a")]
    asked += [user("wow, it works"), reply("Want to go on?"), user("draw the frost of each row as well")]
    (goal,) = told_in(SummarySection.GOAL, *asked, *edit("src/frost.py", "b"))
    assert goal == "draw the frost of each row as well"
    assert not demands.is_pleased("it works, but the lanes are too wide")


def test_what_a_plan_must_be_holds_until_it_is_there() -> None:
    asked = [user("this plan must be readable without the code"), *edit("docs/plan.md", "a"), reply("Done.")]
    assert rules(*asked, user("Now prune the rows."), *edit("src/rows.py", "b")) == []


def test_a_request_of_one_word_that_is_worked_on_is_the_last_one() -> None:
    asked = [user("tests of the orchard fail"), *edit("src/rows.py", "a"), reply("Fixed, all pass.")]
    lines = [*told_in(SummarySection.GOAL, *asked, user("now vat"), *edit("src/vat.py", "b"))]
    lines += told_in(SummarySection.IN_PROGRESS, *asked, user("now vat"), *edit("src/vat.py", "b"))
    assert any(line.endswith("vat") for line in lines)
    assert "Last request: tests of the orchard fail" not in lines


def test_what_a_question_offers_is_told_only_where_it_was_chosen() -> None:
    ways = "Which one do you want?\n1. Store a code beside each amount\n2. One currency per orchard"
    asked = [user("currency of the orchard"), reply(ways), user("2"), *edit("src/price.py", "a")]
    text = summarize(span(*asked, reply("Done. `priceCode` holds it."))).text
    assert "Store a code beside" not in text


LISTED = "Rules for this session:\n1. Use pnpm\n2. All new code needs tests\n3. Commit after each step\n\nFirst: prune the rows."


def test_what_is_listed_as_rules_is_one_whatever_it_says() -> None:
    asked = [user(LISTED), *edit("src/rows.py", "a"), reply("Done.")]
    later = [*asked, user("now the docs of the orchard"), *edit("docs/rows.md", "b")]
    assert rules(*later) == ["Use pnpm", "All new code needs tests", "Commit after each step"]
    assert demands.demands("no floats")
    assert not demands.demands("no problems")


@pytest.mark.parametrize(
    "back", ["rule 3 is off, prune them all", "rule 3: commit only when I ask for it, never else"]
)
def test_a_rule_is_taken_back_by_its_number(back: str) -> None:
    asked = [user(LISTED), *edit("src/rows.py", "a"), reply("Done.")]
    left = rules(*asked, user(back), *edit("docs/rows.md", "b"))
    assert "Commit after each step" not in left
    assert "Use pnpm" in left


def test_of_a_rule_of_two_parts_the_other_part_holds() -> None:
    asked = [
        user("It must run on Python 3.8 and never use dataclasses."),
        *edit("src/rows.py", "a"),
        reply("Done."),
    ]
    back = "actually python 3.8 is no longer needed, we are on 3.12"
    asked += [
        user(back),
        *edit("src/rows.py", "b"),
        reply("Done."),
        user("draw the lanes"),
        *edit("b.py", "c"),
    ]
    assert rules(*asked) == [
        "It must run on Python 3.8 and never use dataclasses.",
        back.removeprefix("actually "),
    ]


def test_a_step_whose_offer_was_taken_and_answered_is_over() -> None:
    step = "接下来还需要支持嵌套表。"
    asked = [
        user("请写一个解析果园配置的模块 src/config.py"),
        *edit("src/config.py", "a"),
        reply(f"已完成。{step}要不要我现在做？"),
    ]
    assert step in told_in(SummarySection.NEXT, *asked)
    taken = [*asked, user("好的，继续"), *edit("src/config.py", "b"), reply("8 个测试通过。")]
    assert told_in(SummarySection.NEXT, *taken) == []


def test_what_failed_on_the_way_to_an_answer_is_not_in_the_way() -> None:
    why = [
        user("why does an empty orchard break the rows"),
        reply("", ("a", "bash", {"command": "python -c 'import rows'"})),
    ]
    why += [result("a", "IndexError: list index out of range", failed=True)]
    assert told_in(SummarySection.BLOCKED, *why) == [
        "IndexError: list index out of range",
        "Failed: `python -c 'import rows'`",
    ]
    answered = [*why, reply("`rows[0]` is read without a look at its length.")]
    assert told_in(SummarySection.BLOCKED, *answered) == []
    # Other calls went on: it was a look at something, no obstacle.
    assert told_in(SummarySection.BLOCKED, *why, *edit("src/rows.py", "b")) == []


def test_a_phase_that_the_user_skips_is_not_next() -> None:
    plan = "## Phase 1: Schema\n- [ ] Add a table of rows\n\n## Phase 2: UI\n- [ ] Page with the list\n\nShall I start?"
    asked = [
        user("plan the rows of the orchard"),
        reply(plan),
        user("yes but skip the UI, someone else does it"),
    ]
    text = summarize(span(*asked, *edit("db/rows.sql", "a"))).text
    assert "Add a table of rows" in text
    assert "Page with the list" not in text


def test_a_table_that_a_program_printed_is_no_request() -> None:
    shown = "$ kubectl get pods\nNAME READY STATUS\nworker-1 1/1 Running\n\nlooks good. tag the release of the orchard"
    asked = [user(shown), *edit("src/rows.py", "a")]
    assert told_in(SummarySection.GOAL, *asked) == ["looks good. tag the release of the orchard"]


def test_a_rule_to_keep_something_says_that_it_was_asked_to_go_since() -> None:
    previous = "## Constraints & Preferences\n- Keep the old rows working beside the new ones\n- Never push\n"
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    go = "when you are done, remoev the old remaining files (rows.py, lanes.py right?"
    asked = [user(go), *edit("src/table.py", "a")]
    kept = "Keep the old rows working beside the new ones"
    assert told_in(SummarySection.CONSTRAINTS, *asked, **more) == [
        f"{kept} (asked since: remoev the old remaining files (rows.py, lanes.py right?)",
        "Never push",
    ]
    other = [user("remove the fence"), *edit("src/fence.py", "a")]
    assert told_in(SummarySection.CONSTRAINTS, *other, **more) == [kept, "Never push"]
    for spared in ("NEVER drop or delete the old rows", "please don't ever remove the old rows"):
        again = [user(spared), *edit("src/fence.py", "a")]
        assert not any(
            "asked since" in line for line in told_in(SummarySection.CONSTRAINTS, *again, **more)
        ), spared


def test_what_follows_code_in_the_middle_of_a_sentence_is_not_told_alone() -> None:
    said = "If the orchard is there already, adding:\n\n```toml\nrows = 3\n```\n\nmay do nothing until somebody prunes `rows_of`. The fence of `draw_all` stays."
    asked = [user("how do rows of the orchard grow"), *edit("src/rows.py", "a"), reply(said)]
    text = summarize(span(*asked, user("draw the lanes"), *edit("src/lanes.py", "b"))).text
    assert "may do nothing" not in text


def test_what_is_asked_for_in_french_is_no_rule() -> None:
    assert not demands.demands("il faut ajouter la pagination à l'API")
    assert demands.demands("il ne faut jamais toucher à la vieille table")


def test_what_the_user_says_is_wrong_was_not_done() -> None:
    asked = [user("Add a dark mode toggle to the settings of the orchard"), *edit("src/a.tsx", "a")]
    asked += [reply("Added a toggle in the header. Fixed the padding of `rows_of` on the way.")]
    asked += [
        user("no, in the settings, not the header"),
        *edit("src/a.tsx", "b"),
        reply("Moved it to the settings."),
    ]
    text = summarize(span(*asked, user("now the font size of it"), *edit("src/b.tsx", "c"))).text
    assert "Added a toggle in the header" not in text
    assert "Fixed the padding" in text


def test_a_request_whose_offer_was_taken_and_is_over_is_no_goal() -> None:
    asked = [user("warum brauchen die Tests der Plantage auf dem CI so lange"), *edit("ci.yml", "a")]
    asked += [reply("Die Datenbank wird immer neu gebaut. Soll ich ein Image cachen?"), user("ja mach das")]
    asked += [*edit("ci.yml", "b"), reply("Umgesetzt: das Image wird gecacht.")]
    asked += [user("Lass uns jetzt den Login anschauen"), *edit("src/login.ts", "c")]
    assert told_in(SummarySection.GOAL, *asked) == ["Lass uns jetzt den Login anschauen"]
