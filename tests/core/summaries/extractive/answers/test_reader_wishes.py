"""What a reply leaves to its reader's wish is no next step, nor is a word that only looks like one for open work."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.decisions import decides
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, told_in, user, worked

_DONE = [
    user("Let the pear table of orchard count its crates."),
    *worked("src/pears.py", "a"),
    reply("The table counts its crates."),
]


@pytest.mark.parametrize(
    "offer",
    [
        "If you want, next I can move the pear table of the valley to the new form as well.",
        "Wenn du möchtest, stelle ich als Nächstes auch die Tabelle der Birnen um.",
        "Si quieres, el próximo paso es mover la tabla de las peras al nuevo formato.",
        "Si vous voulez, la prochaine étape est de passer la table des poires au nouveau format.",
        "如果你需要，下一步我可以把梨的表格也改成新的格式。",
        "よろしければ、次に梨の表も新しい形式に変えます。",
        "원하시면 다음으로 배 표도 새 형식으로 바꾸겠습니다.",
        "If you agree, next I move the pear table of the valley to the new form.",
        "Si te parece, el próximo paso es mover la tabla de las peras al nuevo formato.",
        "Si vous êtes d'accord, la prochaine étape est de passer la table des poires au nouveau format.",
        "Se concordar, o próximo passo é mudar a tabela das peras para o novo formato.",
        "如果你同意，下一步我把梨的表格也改成新的格式。",
        "如果没问题，下一步我把梨的表格也改成新的格式。",
        "問題なければ、次に梨の表も新しい形式に変えます。",
        "괜찮으시면 다음으로 배 표도 새 형식으로 바꾸겠습니다.",
    ],
)
def test_an_offer_is_no_next_step(offer: str) -> None:
    asked = user("and let it print the crates of each day")
    said = [asked, *worked("src/days.py", "b"), reply(f"It prints the crates of each day. {offer}")]
    assert told_in(SummarySection.NEXT, *_DONE, *said) == []


def test_open_work_without_a_wish_is_one() -> None:
    assert remains("Next, we move the pear table of the valley to the new form.")
    assert remains("La tabla de las peras de todo el valle queda por mover.")
    assert not remains("“那就先不测试了，继续下一步工作”"), "somebody's words"
    assert remains("如果没有梨的表格，下一步要先建立它。"), "a condition that no reader decides"


@pytest.mark.parametrize(
    "said",
    [
        "Borramos los envíos viejos del huerto, dejando todo limpio para la cosecha.",
        "Hemos logrado guardar todo el huerto en la base de datos.",
        "Todo probado con la tabla de peras del valle.",
        "Todo limpio, sin cajones de peras colgados.",
        "No hice ningún commit de las peras — quedó todo en la tabla para que lo revises.",
    ],
)
def test_the_spanish_word_for_all_names_no_open_work(said: str) -> None:
    assert not remains(said)


def test_what_depends_on_something_is_not_decided() -> None:
    assert decides("배는 상자 단위로 저장하기로 결정했습니다.")
    assert not decides("상자의 무게는 여기서 결정됩니다.")


@pytest.mark.parametrize(
    "said",
    [
        "Before I change the table, I need to see how the crates of the valley are counted because the days overlap there.",
        "I'm adding a column to `PearTable` so that the crates have a day, and I'll first look at how the valley counts them.",
    ],
)
def test_a_look_that_comes_first_is_no_decision(said: str) -> None:
    asked = user("and let it print the crates of each day")
    look = [reply(said, ("r", "edit", {"path": "src/pears.py", "oldText": "a", "newText": "b"}))]
    assert told_in(SummarySection.DECISIONS, *_DONE, asked, *look) == []


def test_a_step_that_two_requests_passed_over_is_told_as_planned_only_where_its_subject_was_left_alone() -> (
    None
):
    steps = "Remaining: the sums of `pear_sums` need to be rounded.\n\nStill open: the letters in `letters.py` need a date."
    said = [*_DONE[:-1], reply(f"The table counts its crates.\n\n{steps}")]
    for number in (1, 2):
        said += [
            user(f"now let the pump of pond {number} stop by night"),
            *worked(f"src/pond_{number}.py", "p"),
        ]
        said += [reply("The pump stops by night, and `pear_sums` is as it was.")]
    told = [line for line in told_in(SummarySection.CONTEXT, *said) if line.startswith("Planned: ")]
    assert len(told) == 1
    assert "letters.py" in told[0]
    assert told_in(SummarySection.NEXT, *said) == []


@pytest.mark.parametrize("heading", ["Needs you", "Your call", "Decisions needed", "Questions for you"])
def test_what_an_answer_asks_of_its_reader_is_no_outcome(heading: str) -> None:
    answer = (
        f"# {heading}\n\n- Decide how shared rows behave.\n\n# Done\n\nHovering a row lights all its crates."
    )
    said = [user("light the crates of a row on hover"), *worked("src/rows.py", "b"), reply(answer)]
    (done, *_) = told_in(SummarySection.DONE, *_DONE, *said, user("print the crates by weight"))[-1:]
    assert "Decide" not in done


def test_an_observation_beside_the_work_decides_nothing() -> None:
    assert not decides("附帶觀察：兩個欄位都有路徑了，所以之後的更新應該能就地進行，不會再警告。")
    assert not decides(
        "Side note: both columns have paths now, so we should use the short update from now on."
    )


@pytest.mark.parametrize(
    "finding",
    [
        "The test shows that the changes are not there yet since it reads the old orchard.",
        "Der Lauf zeigt, dass die Sorten fehlen, weil niemand sie put.",
        "How it works: the watcher drops a theme because its file is gone.",
    ],
)
def test_what_something_shows_and_how_it_works_decide_nothing(finding: str) -> None:
    assert not decides(finding)
    assert decides("The tests keep the old orchard because the new one has no frost.")
