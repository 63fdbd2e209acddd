"""Rules, and demands that are none, in sessions of people who write in any language and in any manner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences import demands, questions, responses
from leafward.summaries.facts.sentences.standing_rules import listed_rules
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import FOLDER, reply, result, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

PLAN = "Write a plan in docs/plan.md, it must name every file of the orchard."
"""A demand on the plan stands until it is met."""


def rules(*messages: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.CONSTRAINTS, *messages)


def held(messages: list[dict[str, Any]]) -> list[str]:
    """The rules that a compaction of these messages can lose."""
    said = [SpanMessage(EntryIndex(10 + place), message) for place, message in enumerate(messages)]
    return [fact.text for fact in facts_of(said, FOLDER) if fact.kind is FactKind.CONSTRAINT]


LISTED = "Rules for this session:\n1. Use pnpm\n2. All new code needs tests\n3. Commit after each step\n\nFirst: prune the rows."


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
    asked = [user(order), *worked("docs/plan.md", "a")]
    assert held(asked)
    later = [*asked, reply(answer), user("Now prune the rows of the orchard."), *worked("src/rows.py", "b")]
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
    asked = [user(remark), *worked("src/rows.py", "a")]
    later = [*asked, reply("Done."), user("Now prune the rows of the orchard."), *worked("src/rows.py", "b")]
    assert rules(*later) == []


@pytest.mark.parametrize(
    "order",
    [
        "The rows are too narrow, widen the beds so that every name fits. Don't widen them too much",
        "keep the pears and the plums, add two more to the list",
        "Les rangs sont étroits. Élargis les planches pour les noms. Ne les élargis pas trop, il faut que la page tienne",
    ],
)
def test_a_limit_on_the_work_asked_for_beside_it_is_no_rule_once_that_was_done(order: str) -> None:
    asked = [user(order), *worked("src/rows.py", "a")]
    later = [*asked, reply("Done."), user("Now prune the rows of the orchard."), *worked("src/prune.py", "b")]
    assert held(asked)
    assert not any("widen" in one or "pears" in one or "élargis" in one for one in rules(*later))


@pytest.mark.parametrize(
    "rule",
    [
        "Add a row for each pear. Don't use global names in the rows",
        "keep the rows compatible, add no new columns",
        "Widen the beds. Never widen them without a word",
    ],
)
def test_a_rule_beside_work_stays(rule: str) -> None:
    asked = [user(rule), *worked("src/rows.py", "a"), reply("Done.")]
    assert rules(*asked, user("Now prune the rows of the orchard."), *worked("src/prune.py", "b"))


_TABLE = "| bed | pears | plums |\n|---|---|---|\n| north | 12 | none |\n| south | none | 4 |\n| hedge | 3 | none |\n\n12 is the best so far."


@pytest.mark.parametrize(
    ("wish", "lasts"),
    [
        ("leave empty the `none` instead of a word", False),
        ("use two marks if there are pears and plums", False),
        ("never use `none` in a table, leave it empty", True),
        ("no words please", True),
    ],
)
def test_a_wish_for_an_answer_that_was_given_anew_is_no_rule(wish: str, *, lasts: bool) -> None:
    shown = [user("Show the beds of the orchard as a table."), reply(_TABLE)]
    anew = [*shown, user(wish), reply(_TABLE.replace("none", ""))]
    assert bool(rules(*anew)) is lasts
    assert bool(rules(*anew, user("Now prune the rows of it."), *worked("src/rows.py", "a"))) is lasts


def test_a_wish_behind_another_answer_is_a_rule() -> None:
    shown = [user("Show the beds of the orchard as a table."), reply(_TABLE)]
    said = [*shown, user("use two marks if there are pears and plums"), reply("I will do so in all tables.")]
    assert rules(*said, user("Now prune the rows of it."), *worked("src/rows.py", "a"))


def test_what_a_request_spares_binds_until_it_was_answered() -> None:
    wish = "I want this:\n- keep the rows grouped by frost (as default)\n- remove the fence completely\n- keep all the colors we made"
    asked = [user(wish), *worked("src/rows.py", "a")]
    assert rules(*asked) == []
    (goal,) = told_in(SummarySection.GOAL, *asked)
    assert "keep the rows grouped" in goal
    assert "keep all the colors" in goal
    later = [*asked, reply("Done."), user("Now prune the rows of the orchard."), *worked("src/rows.py", "b")]
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
    asked = [user(rule), *worked("src/rows.py", "a"), reply("Done.")]
    assert rules(*asked, user("Now prune the rows of the orchard."), *worked("src/rows.py", "b"))


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
    asked = [user(f"{rule} Port the parser of the orchard."), *worked("src/rows.py", "a"), reply("Done.")]
    asked = [user(rule), *asked]
    later = [*asked, user(back), *worked("src/rows.py", "b")]
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
    asked = [user("Never touch src/config.py. Always run mypy."), *worked("src/rows.py", "a"), reply("Done.")]
    assert len(rules(*asked, user(more), *worked("src/rows.py", "b"))) == 2


@pytest.mark.parametrize("prompt", ["Keep going after the fill", "keep working on the rows of frost"])
def test_who_wants_more_of_the_same_sets_no_rule(prompt: str) -> None:
    assert not demands.demands(prompt)


def test_what_was_said_before_the_answer_belongs_to_the_order() -> None:
    asked = [user(PLAN), reply("", ("a", "read", {"path": "docs/plan.md"})), result("a", "x")]
    asked += [
        user("this plan must be readable without the code"),
        *worked("docs/plan.md", "b"),
        reply("Done."),
    ]
    assert rules(*asked, user("Now prune the rows."), *worked("src/rows.py", "c")) == []


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
    asked = [user(rule), *worked("src/rows.py", "a"), reply("Done.")]
    assert len(rules(*asked, user("Now prune the rows."), *worked("src/rows.py", "b"))) == 1


@pytest.mark.parametrize(
    "remark",
    [
        "i think the table doesn't keep to the invariant that no row must be wider than the screen",
        "nein, das stimmt nicht, es ist immer noch langsam",
        "non, c'est faux, c'est toujours lent",
        "a tabela fica sempre vazia quando eu abro o pomar",
        "o passo final não termina, sempre exibindo a mesma linha da tabela",
        "la tabla de huertos está siempre vacía",
        "das funktioniert auf meinem Rechner leider nicht richtig",
        "ça ne marche pas chez moi avec de gros fichiers",
        "这个解析器特别慢，不能用",
        "src/rows.py に表を実装してください。",
        "Previously, we assumed that the transcripts of orchard must always be complete.",
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
        "日本語で応答してください",
        "responde en español",
        "Responda em português",
        "odpowiadaj po polsku",
        "отвечай на русском",
        "한국어로 답변해줘",
        "Auf Deutsch antworten.",
    ],
)
def test_a_rule_of_another_language_is_one(rule: str) -> None:
    assert demands.demands(rule)


@pytest.mark.parametrize(
    "prompt", ["actually, can you revert that? i want both", "mach das bitte rückgängig", "撤销刚才的修改"]
)
def test_words_that_take_back(prompt: str) -> None:
    assert responses.takes_back(prompt)


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
    asked = [
        user(before),
        *worked("src/rows.py", "a"),
        reply(answer),
        user(then),
        *worked("src/lanes.py", "b"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *asked)
    assert goal == questions.without_fillers(then)


def test_what_the_user_is_pleased_with_is_no_goal() -> None:
    asked = [user("i want the lanes of orchard in a file of their own"), *worked("src/lanes.py", "a")]
    asked += [user("wow, it works"), reply("Want to go on?"), user("draw the frost of each row as well")]
    (goal,) = told_in(SummarySection.GOAL, *asked, *worked("src/frost.py", "b"))
    assert goal == "draw the frost of each row as well"
    assert not responses.is_pleased("it works, but the lanes are too wide")


def test_what_a_plan_must_be_holds_until_it_is_there() -> None:
    asked = [
        user("this plan must be readable without the code"),
        *worked("docs/plan.md", "a"),
        reply("Done."),
    ]
    assert rules(*asked, user("Now prune the rows."), *worked("src/rows.py", "b")) == []


def test_what_is_listed_as_rules_is_one_whatever_it_says() -> None:
    asked = [user(LISTED), *worked("src/rows.py", "a"), reply("Done.")]
    later = [*asked, user("now the docs of the orchard"), *worked("docs/rows.md", "b")]
    assert [one.removeprefix("Said with an earlier request: ") for one in rules(*later)] == [
        *("Use pnpm", "All new code needs tests", "Commit after each step")
    ]
    assert demands.demands("no floats")
    assert not demands.demands("no problems")


def test_what_is_to_be_done_with_rules_makes_none() -> None:
    asked = "Clean up the crates:\n- Move the rules of a crate into `Crate`, including:\n  - weight validation\n- Give each crate a name"
    assert listed_rules(asked) == []
    assert listed_rules("1. Rules of the crates:\n   - Use pnpm") == ["Use pnpm"]


def test_of_a_rule_of_two_parts_the_other_part_holds() -> None:
    asked = [
        user("It must run on Python 3.8 and never use dataclasses."),
        *worked("src/rows.py", "a"),
        reply("Done."),
    ]
    back = "actually python 3.8 is no longer needed, we are on 3.12"
    asked += [
        user(back),
        *worked("src/rows.py", "b"),
        reply("Done."),
        user("draw the lanes"),
        *worked("b.py", "c"),
    ]
    assert rules(*asked) == [
        "Said with an earlier request: It must run on Python 3.8 and never use dataclasses.",
        back.removeprefix("actually "),
    ]


def test_a_rule_to_keep_something_says_that_it_was_asked_to_go_since() -> None:
    previous = "## Constraints & Preferences\n- Keep the old rows working beside the new ones\n- Never push\n"
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    go = "when you are done, remoev the old remaining files (rows.py, lanes.py right?"
    asked = [user(go), *worked("src/table.py", "a")]
    kept = "Keep the old rows working beside the new ones"
    assert told_in(SummarySection.CONSTRAINTS, *asked, **more) == [
        f"{kept} (asked since: remoev the old remaining files (rows.py, lanes.py right?)",
        "Never push",
    ]
    other = [user("remove the fence"), *worked("src/fence.py", "a")]
    assert told_in(SummarySection.CONSTRAINTS, *other, **more) == [kept, "Never push"]
    for spared in ("NEVER drop or delete the old rows", "please don't ever remove the old rows"):
        again = [user(spared), *worked("src/fence.py", "a")]
        assert not any(
            "asked since" in line for line in told_in(SummarySection.CONSTRAINTS, *again, **more)
        ), spared


def test_what_is_asked_for_in_french_is_no_rule() -> None:
    assert not demands.demands("il faut ajouter la pagination à l'API")
    assert demands.demands("il ne faut jamais toucher à la vieille table")


@pytest.mark.parametrize(
    "rule",
    [
        "yes please, but no new dependencies",
        "no external services please",
        "leave the old tests alone",
        "we can't use GPL libraries",
        "nothing may be written outside /data",
        "stay backwards compatible",
        "Answer in Dutch",
        "请用中文回答",
        "make it faster without changing the API",
    ],
)
def test_a_rule_in_few_words_is_one(rule: str) -> None:
    assert demands.demands(rule)


@pytest.mark.parametrize(
    "remark",
    ["no new errors", "no other issues", "we can't use it because it fails", "Reply in one sentence"],
)
def test_few_words_about_a_state_or_one_answer_are_no_rule(remark: str) -> None:
    assert not demands.demands(remark)


def test_the_form_of_a_review_is_no_rule_behind_it() -> None:
    said = [
        user("Review the branch of orchard. Findings only, worst first."),
        reply("1. `claim` loses a job."),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said, user("fix the first one")) == []
    assert any("Findings only" in line for line in told_in(SummarySection.GOAL, *said[:1]))


def test_what_is_not_to_be_done_together_is_a_rule() -> None:
    """`let's` begins work, `let's not` forbids some; with a pronoun alone it only declines."""
    rule = "let's not jump to explanations by the orchard just yet"
    asked = [user("Port the frost table of orchard to columns."), *worked("src/frost.py", "a")]
    assert rules(*asked, user(f"so {rule}"), *worked("src/frost.py", "b")) == [rule]
    assert rules(*asked, user("no, let's not do that"), *worked("src/frost.py", "b")) == []
    assert rules(*asked, user("let's add a table of frosts"), *worked("src/frost.py", "b")) == []


@pytest.mark.parametrize(
    "rule", ["omfg use named colours in the table, no numbered ones!", "no console logs!"]
)
def test_a_rule_that_is_called_out_is_one(rule: str) -> None:
    asked = [user("sort the frost table"), *worked("src/frost.py", "a"), reply("Done.")]
    then = [reply("Done."), user("now print the crates by weight"), *worked("src/crates.py", "c")]
    assert rules(*asked, user(rule), *worked("src/frost.py", "b"), *then)


@pytest.mark.parametrize("remark", ["no merge conflicts!", "No lint errors!", "no test failures!!"])
def test_a_relief_that_is_called_out_is_no_rule(remark: str) -> None:
    assert not demands.demands(remark)


def test_a_sentence_of_the_reply_that_the_user_repeats_is_no_rule() -> None:
    # Fails where it is told as a demand of the user's.
    found = "The only real issue was `frosttab`: row not found during harvest (its path doesn’t include the rows)."
    done = [*worked("a.py", "b"), reply("Removed.")]
    said = [user("Look at the rows of orchard."), reply(f"Looks good.\n\n{found} That is mended.")]
    quoted = user(f"{found.replace('`', '')}\n\ncan we remove this?")
    assert told_in(SummarySection.CONSTRAINTS, *said, quoted, *done) == []
    rule = "Never touch the generated files of the valley under gen/ by hand."
    asked = user(f"{rule}\n\nNow sort the rows by day and by the crate.")
    said = [user("Look at the rows of orchard."), reply(f"Looks good. {rule}"), asked]
    assert told_in(SummarySection.CONSTRAINTS, *said, *done) == [rule]


def test_to_wait_for_something_is_no_filler() -> None:
    assert questions.without_fillers("ok wait, show the crates") == "show the crates"
    rule = "wait for the harvest to end but never pick pears yourself"
    assert questions.without_fillers(f"ok, {rule}") == rule


@pytest.mark.parametrize(
    "order",
    [
        "For now make the crates of the valley optional only in the form.",
        "Use one constant for this limit, in the check and in the column.",
        "Use the playwright server to test it.",
        "Usa una constante única para ese límite.",
    ],
)
def test_an_order_that_was_carried_out_is_no_rule(order: str) -> None:
    said = [user(f"Add a limit to the crates. {order}"), *worked("src/crates.py", "a")]
    # While the work goes on it limits that.
    assert not any(order in line for line in rules(*said, reply("Done. The limit is in.")))
    lasting = "From now on use one constant for each limit."
    assert rules(user(f"Add a limit to the crates. {lasting}"), *said[1:], reply("Done.")) == [lasting]


def test_what_is_to_be_left_for_now_may_last() -> None:
    said = [user("Add a limit to the crates. Don't push for now."), *worked("src/crates.py", "a")]
    assert rules(*said, reply("Done.")) == ["Don't push for now."]


def test_of_the_users_messages_in_an_earlier_summary_only_the_rules_are_rules() -> None:
    previous = (
        "Summary:\n6. **All User Messages:**\n"
        '   - "use the browser server to test it. none of the links work"\n'
        '   - "Never push the valley. Then print the crates" - directive to go on\n'
    )
    told = told_in(SummarySection.CONSTRAINTS, *worked("src/a.py", "a"), previous=previous, previous_entry=3)
    assert told == ["Never push the valley."]
