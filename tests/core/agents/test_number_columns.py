"""Columns of numbers that are worked out as a whole: each says what one step after the other says."""

from __future__ import annotations

import random
from array import array

import pytest

from leafward.agents.claude.entries import number_columns
from leafward.agents.claude.entries.number_columns import (  # fmt: skip
    RowSelection,
    ascending,
    filled,
    places_of,
    repeated,
    spread,
    words_for,
)


@pytest.mark.parametrize("places", [[], [0], [7, 90, 4_000_000_000], [1 << 32, (1 << 40) + 5]])
def test_a_word_is_made_of_the_place_and_lies_in_memory_as_it_is_read(places: list[int]) -> None:
    words = words_for(array("q", places), 0xFFFFFFF0)
    assert words.tobytes() == b"".join(spread(0xFFFFFFF0, place).to_bytes(4, "big") for place in places)


def test_a_column_takes_another_ones_numbers_where_there_is_a_mark() -> None:
    mine, others = array("I", [0xFFFFFFFF, 0, 3, 0]), array("I", [9, 0xFFFFFFFE, 8, 7])
    assert filled(mine, others, b"\0\1\0\1") == array("I", [0xFFFFFFFF, 0xFFFFFFFE, 3, 7])


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 65_536, 70_001])
def test_numbers_ascend(count: int) -> None:
    assert ascending(count) == array("i", range(count))


@pytest.mark.parametrize("apart", [1, 8, 1 << 20])
def test_columns_of_some_rows(apart: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_columns, "_APART", apart)
    chance = random.Random(7)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        for count in (0, 1, 2, 60):
            marks = bytes(chance.random() < share for _ in range(count))
            some, column = RowSelection(marks), array("q", range(0, 10 * count, 10))
            assert some.of(column) == array(
                "q", [value for value, mark in zip(column, marks, strict=True) if mark]
            )
            assert some.places() == array("i", [sum(marks[: row + 1]) - 1 for row in range(count)])


@pytest.mark.parametrize("numbers", [[], [5], [5, 5], [1, 2, 3, 2, 2, 1]])
def test_numbers_that_occur_again(numbers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    again = {number for number in numbers if numbers.count(number) > 1}
    assert repeated(array("I", numbers)) == again
    monkeypatch.setattr(number_columns, "_MANY", 2)
    monkeypatch.setattr(number_columns, "_AT_ONCE", 3)
    assert repeated(array("I", numbers)) == again


@pytest.mark.parametrize("many", [4, 1 << 18])
def test_numbers_that_are_known_to_differ_are_held_against_the_others(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(number_columns, "_MANY", many)
    monkeypatch.setattr(number_columns, "_AT_ONCE", 5)
    chance = random.Random(8)
    for _ in range(50):
        apart = chance.sample(range(60), 12)
        others = [chance.randrange(60) for _ in range(12)]
        rows = [(number, 1) for number in apart] + [(number, 0) for number in others]
        chance.shuffle(rows)
        every = array("I", [number for number, _ in rows])
        again = {number for number in every if every.count(number) > 1}
        assert repeated(every, bytes(mark for _, mark in rows)) == again


@pytest.mark.parametrize("kind", ["I", "Q"])
def test_where_numbers_stand(kind: str) -> None:
    chance = random.Random(9)
    numbers = array(kind, [chance.randrange(1 << 18) for _ in range(500)])
    wanted = {*numbers[::90], 70_000}
    assert places_of(numbers, wanted) == [at for at, number in enumerate(numbers) if number in wanted]
    assert places_of(numbers, set()) == []
