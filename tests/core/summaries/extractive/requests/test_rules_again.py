"""Rules that are set again with another name or figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any


def rules(*messages: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.CONSTRAINTS, *messages)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (
            "Every export of the orchard must begin from the template docs/frost-01.tex.",
            "Every export of the orchard must begin from the template docs/frost-02.tex.",
        ),
        (
            "Cada tabla del huerto debe tener siempre 5 columnas de pesos",
            "Cada tabla del huerto debe tener siempre 6 columnas de pesos",
        ),
    ],
)
def test_a_rule_that_is_set_again_with_another_figure_replaces_the_first(first: str, again: str) -> None:
    asked = [user(first), *worked("src/rows.py", "a"), reply("Done.")]
    told = rules(
        *asked, user(again), *worked("src/rows.py", "b"), reply("Done."), user("Now prune the rows.")
    )
    assert not [one for one in told if first.rstrip(".") in one]
    assert [one for one in told if again.rstrip(".") in one]


def test_a_rule_replaces_none_of_its_own_prompt() -> None:
    both = "Every pear of the old orchard must weigh 200 g. Every pear of the old orchard must weigh 300 g."
    told = rules(user(both), *worked("src/rows.py", "a"), reply("Done."), user("Now prune the rows."))
    assert any("must weigh 200 g." in one for one in told)
