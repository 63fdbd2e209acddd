"""What a reply stated is told until two later requests had work, longer only where nobody named its subject since, and never after four."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, told_in, user, worked

_WORKED_ON = "The gate of `fence_table` opens only while the pump of the lower pond is switched off."
_LEFT_ALONE = (
    "The hours of the night watch stand in `config/watch.toml`, one line for each of the seven days."
)
_NAMELESS = "The pump of the lower pond takes about forty minutes until the whole pond is empty."
_FIRST = [
    user("Find out why the gate of the orchard stays shut."),
    *ran("a", "orchard measure fences"),
    reply(f"The cause is the pump of the pond.\n\n{_WORKED_ON}\n\n{_LEFT_ALONE}\n\n{_NAMELESS}"),
]


def _later(number: int) -> list[dict[str, object]]:
    asked = user(f"now let the fence of field {number} tell its length as well")
    return [
        asked,
        *worked(f"src/field_{number}.py", f"f{number}"),
        reply("The `fence_table` has its length."),
    ]


def _said(*messages: dict[str, object]) -> list[str]:
    told = told_in(SummarySection.CONTEXT, *messages)
    return [line for line in (_WORKED_ON, _LEFT_ALONE, _NAMELESS) if line in told]


def test_a_statement_is_told_while_one_request_was_worked_on_behind_it() -> None:
    assert _said(*_FIRST) == [_WORKED_ON, _LEFT_ALONE, _NAMELESS]
    assert _said(*_FIRST, *_later(1)) == [_WORKED_ON, _LEFT_ALONE, _NAMELESS]


def test_behind_a_second_one_it_is_told_only_where_its_subject_was_left_alone() -> None:
    assert _said(*_FIRST, *_later(1), *_later(2)) == [_LEFT_ALONE]
    again = [user("how many watches are in config/watch.toml?"), *ran("w", "wc -l config/watch.toml")]
    assert _said(*_FIRST, *_later(1), *_later(2), *again) == []


def test_a_request_that_was_only_talked_about_ages_nothing() -> None:
    talked = [user("and what is a gate of the valley called?"), reply("A gate of the valley is a weir.")]
    assert _said(*_FIRST, *_later(1), *talked, *talked) == [_WORKED_ON, _LEFT_ALONE, _NAMELESS]


def test_behind_four_requests_only_the_cause_is_told() -> None:
    cause = "Root cause: the pump of the pond draws more than the fence can carry."
    report = "Added a valve to the pump of the pond."
    said = f"Mended the gate of the orchard.\n\n{_LEFT_ALONE}\n\n{cause}\n\n{report}"
    first = [user("Mend the gate of the orchard."), *worked("src/gate.py", "gate"), reply(said)]
    talked = [user("and what is a gate of the valley called?"), reply("A gate of the valley is a weir.")]
    told = told_in(SummarySection.CONTEXT, *first, *talked * 3)
    assert _LEFT_ALONE in told
    assert report in told
    told = told_in(SummarySection.CONTEXT, *first, *talked * 4)
    assert _LEFT_ALONE not in told
    assert report not in told
    assert cause in told


@pytest.mark.parametrize(
    "expected",
    [
        "La puerta del huerto debería abrirse de nuevo después de la lluvia.",
        "La porte du verger devrait maintenant s'ouvrir après chaque pluie.",
        "重新 启动 之后， 果园 的 门 应该 可以 再次 正常 打开。",
    ],
)
def test_what_should_be_is_no_statement(expected: str) -> None:
    said = [*_FIRST[:-1], reply(f"The cause is the pump of the pond.\n\n{expected}")]
    assert expected not in told_in(SummarySection.CONTEXT, *said)


def test_a_sentence_about_something_that_only_the_one_before_it_names_is_not_told() -> None:
    """English was read so; `Dies` and `Ye` point back as `This` does."""
    lost = [
        "Dies hält die Pumpe an, solange das Tor des unteren Teichs offen steht.",
        "Ye pump ko tab tak band rakhta hai jab tak gate khula hai.",
    ]
    said = [
        user("Warum steht das Tor offen?"),
        *ran("a", "cat fences"),
        reply("Das Ventil klemmt im Rohr.\n\n" + "\n\n".join(lost)),
    ]
    told = told_in(SummarySection.CONTEXT, *said)
    assert not any(line in told for line in lost)
