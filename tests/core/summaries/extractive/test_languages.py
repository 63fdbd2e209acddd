"""Requests, answers and offers in other languages: what is answered is done, what is declined is left, what goes on is no step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

ASKED = {
    "German": "Baue den Parser von orchard auf eine Tabelle um.",
    "French": "Porte l'analyseur d'orchard vers une table.",
    "Chinese": "把 orchard 的解析器改成表格。",
    "Japanese": "orchardのパーサーをテーブルに移植してください。",
}
WORK = worked("src/parser.py", "a")


@pytest.mark.parametrize(
    ("language", "offer", "no", "then"),
    [
        ("German", "Der Parser liest jetzt aus der Tabelle. Soll ich auch den Drucker umbauen?", "nein, lass den Drucker so", "Gut, der Drucker bleibt."),
        ("French", "L'analyseur lit la table. Veux-tu que je porte aussi l'imprimante ?", "non, laisse l'imprimante", "D'accord."),
        ("Chinese", "解析器改好了。要不要顺便更新文档？", "不用", "好的。"),
        ("Japanese", "移植しました。ドキュメントも更新しますか？", "いいえ、結構です", "わかりました。"),
    ],
)  # fmt: skip
def test_a_declined_offer_leaves_nothing_open(language: str, offer: str, no: str, then: str) -> None:
    said = [user(ASKED[language]), *WORK, reply(offer), user(no), reply(then)]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    assert told_in(SummarySection.IN_PROGRESS, *said) == []


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("打印机也改一下", "打印机也改好了。要不要顺便更新文档？"),
        ("プリンターもお願いします", "プリンターも移植しました。ドキュメントも更新しますか？"),
    ],
)
def test_what_an_answer_offers_is_told_beside_its_result(request_: str, answer: str) -> None:
    said = [user("Port the parser of orchard."), *WORK, reply("Done. The parser is ported."), user(request_), *worked("src/printer.py", "b"), reply(answer)]  # fmt: skip
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal == f"Last request, answered with a question: {request_} → changed `printer.py`"
    (waiting,) = told_in(SummarySection.IN_PROGRESS, *said)
    assert waiting.startswith("Waiting for the user: ")


@pytest.mark.parametrize(
    ("asked", "answer", "is_open"),
    [
        ("mach das wieder rückgängig", "Rückgängig gemacht.", False),
        ("benenne den Parser um", "Umbenannt, aber der Test schlägt fehl.", True),
        ("supprime l'ancien analyseur", "Supprimé. Reste à corriger l'imprimante.", True),
        ("修复解析器", "改了一半，打印机还没改。", True),
    ],
)
def test_a_sign_that_something_is_left_decides_where_no_result_is_known(
    asked: str, answer: str, is_open: bool
) -> None:
    said = [user("Port the parser of orchard."), *WORK, reply("Done. The parser is ported."), user(asked), *ran("m", "git mv a.py b.py"), reply(answer)]  # fmt: skip
    assert (told_in(SummarySection.GOAL, *said) != [GOT_REPLY]) is is_open


@pytest.mark.parametrize(
    ("language", "told", "go_on", "done"),
    [
        ("German", "Der Parser ist umgebaut. Als Nächstes fehlt noch der Drucker.", "weiter", "Der Drucker ist auch umgebaut. Alles erledigt."),
        ("Chinese", "解析器已改，接下来跑测试。", "继续", "测试全部通过，完成了。"),
        ("French", "L'analyseur lit la table. Il reste à porter l'imprimante.", "continue", "L'imprimante est portée."),
    ],
)  # fmt: skip
def test_a_step_that_the_user_only_said_to_go_on_to_is_done_with_the_answer(
    language: str, told: str, go_on: str, done: str
) -> None:
    before = [user(ASKED[language]), *WORK, reply(told)]
    assert told_in(SummarySection.GOAL, *before) != [GOT_REPLY]
    said = [*before, user(go_on), *worked("src/printer.py", "b"), reply(done)]
    assert told_in(SummarySection.NEXT, *said) == []
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_withdrawn_rule_is_not_quoted_with_the_request_that_set_it() -> None:
    said = [
        user("Keine neuen Abhängigkeiten hinzufügen. Baue den Parser von orchard um."),
        *WORK,
        reply("Erledigt."),
        user("du darfst jetzt doch neue Abhängigkeiten hinzufügen, nimm tomlkit"),
        *worked("src/lexer.py", "b"),
        reply("Fertig, tomlkit ist drin."),
    ]
    done = " ".join(told_in(SummarySection.DONE, *said))
    assert "Keine neuen" not in done
    assert "Asked: Baue den Parser von orchard um." in done


def test_n_alone_declines_and_a_request_that_waits_for_another_one_stays_the_goal() -> None:
    ported: list[dict[str, Any]] = [user("Port the lexer of orchard to a table."), *WORK]
    said = [*ported, reply("Ported. Should I push it?"), user("n")]
    assert told_in(SummarySection.GOAL, *said, reply("Fine.")) == [GOT_REPLY]
    broken_off = {**reply(""), "stopReason": "aborted"}
    first = [user("stop, first fix the printer of orchard"), *worked("src/printer.py", "b")]
    (goal,) = told_in(SummarySection.GOAL, *ported, broken_off, *first, reply("Fixed the printer."))
    assert goal.startswith("Asked before: Port the lexer")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (
            "Is the skill there for this project only, or for all of them?",
            "For all of them: it was installed with `scope: user`.\n\nEvery session has it, not only this folder.\n\nShall I list the other scopes?",
        ),
        (
            "是只在这个项目里生效？还是全局生效？",
            "全局（用户级），我安装时已经写了 `scope: user`。\n\n也就是说它对所有会话都生效，不限于当前项目目录。\n\n要我查一下其他插件的 scope 吗？",
        ),
        (
            "czy filtr orchard działa tylko w tym projekcie?",
            "Nie, filtr działa wszędzie. Instalacja miała `scope: user`.\n\nChcesz, żebym sprawdził pozostałe filtry?",
        ),
    ],
)
def test_an_answered_question_with_an_offer_behind_it_waits_for_the_user(asked: str, answer: str) -> None:
    said = [user(ASKED["German"]), *WORK, reply("Erledigt."), user(asked), reply(answer)]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith(f"Last request, answered with a question: {asked}")
    (waits,) = told_in(SummarySection.IN_PROGRESS, *said)
    assert waits.startswith("Waiting for the user: ")
    # The same where only the answer is kept.
    behind = [SpanMessage(EntryIndex(90), reply(answer))]
    (goal,) = told_in(SummarySection.GOAL, *said[:-1], kept=behind)
    assert goal.startswith(f"Last request, answered with a question: {asked}")


def test_an_offer_alone_answers_no_question() -> None:
    said = [user("Why does the parser of orchard fail on an empty file?"), reply("Shall I look into it?")]
    assert told_in(SummarySection.GOAL, *said) != [GOT_REPLY]


_PORTED = [
    user("Port the frost parser of orchard to a table."),
    *worked("parser.py", "table"),
    *ran("t", "pytest -q"),
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Der Parser ist portiert, alle Tests laufen.", "passt so"),
        ("Der Parser ist portiert, alle Tests laufen.", "sieht gut aus, danke"),
        ("Der Parser ist portiert. Soll ich auch `frost.md` anpassen?", "nein danke, das reicht"),
        ("解析器已移植完成，所有测试通过。", "不错，谢谢"),
        ("解析器已移植完成，所有测试通过。", "太好了"),
        ("解析器已移植完成。需要我更新 `frost.md` 吗？", "不必"),
        ("Parser jest przeniesiony, wszystkie testy przechodzą.", "super, dzięki"),
        ("Parser jest przeniesiony, wszystkie testy przechodzą.", "dobrze, działa"),
        ("Parser jest przeniesiony. Czy mam też zmienić `frost.md`?", "nie, dzięki"),
    ],
)
def test_approval_and_refusal_ask_for_nothing(answer: str, said: str) -> None:
    assert told_in(SummarySection.GOAL, *_PORTED, reply(answer), user(said)) == [GOT_REPLY]
    # Nor once the model was polite about it.
    behind = [*_PORTED, reply(answer), user(said), reply("OK.")]
    assert told_in(SummarySection.GOAL, *behind) == [GOT_REPLY]
    assert not any(said in line for line in told_in(SummarySection.CONSTRAINTS, *behind))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Soll ich auch `frost.md` anpassen?", "ja danke"),
        ("需要我更新 `frost.md` 吗？", "好的，谢谢"),
        ("Czy mam też zmienić `frost.md`?", "tak, zrób to"),
    ],
)
def test_a_yes_with_thanks_accepts_an_offer(asked: str, said: str) -> None:
    # Fails where approval swallows it: the work on the offer would be for nothing.
    behind = [*_PORTED, reply(f"Parser OK. {asked}"), user(said), *worked("frost.md", "z")]
    goals = told_in(SummarySection.GOAL, *behind)
    assert goals == ["Port the frost parser of orchard to a table."]


@pytest.mark.parametrize(
    "said",
    ["das klappt noch nicht", "nadal nie działa", "dalej ten sam błąd", "还是不行", "不是这个意思"],
)
def test_a_complaint_is_told_with_the_request_before_it(said: str) -> None:
    behind = [
        *_PORTED,
        reply("The parser reads the rows by a table now."),
        user(said),
        *ran("r", "python p.py"),
    ]
    goals = told_in(SummarySection.GOAL, *behind)
    assert goals == [f"{said} (asked before: Port the frost parser of orchard to a table.)"]


def test_a_no_in_polish_is_no_rule() -> None:
    # In German the same word is never.
    said = [
        "nie, to źle, użyj `csv.reader`",
        "test nie przechodzi po zmianie tabeli",
        "nie dziala, jest blad",
    ]
    for one in said:
        assert not told_in(SummarySection.CONSTRAINTS, *_PORTED, reply("OK."), user(one), reply("OK."))
    assert demands("Ändere nie die Dateien unter gen/")
