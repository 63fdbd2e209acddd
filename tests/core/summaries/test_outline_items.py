"""Labels in the lists of a summary: completed, current and remaining work below one heading."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection, read_outline

_TOLD = """## Instructions
- Water nothing by hand.
- The next step is to measure the beds in the south.

## Accomplished
- **Completed:** Measured the beds in the north.
- **In Progress (since noon):** Drawing the plan of the hoses.
- **Left to do:**
  - Buy the valves, `valves.csv` has their sizes.
  - Bury the hoses
- Painted the shed.
- **Pendiente**:
- Lay the last hose.

## Discoveries
- **Next step:** is a heading of the old plan.
"""


def _sections() -> dict[str, SummarySection]:
    return {text: section for section, text, _ in read_outline(_TOLD)}


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("Measured the beds in the north.", SummarySection.DONE),
        ("Drawing the plan of the hoses.", SummarySection.IN_PROGRESS),
        ("Buy the valves, `valves.csv` has their sizes.", SummarySection.NEXT),
        ("Bury the hoses", SummarySection.NEXT),
        ("Painted the shed.", SummarySection.DONE),
        ("Lay the last hose.", SummarySection.NEXT),
        ("Water nothing by hand.", SummarySection.CONSTRAINTS),
        ("The next step is to measure the beds in the south.", SummarySection.NEXT),
    ],
)
def test_a_label_says_how_the_work_of_an_item_stands(text: str, section: SummarySection) -> None:
    assert _sections()[text] is section


def test_a_label_alone_is_no_line_and_one_elsewhere_stays() -> None:
    assert not any(text.startswith(("**Left", "**Pend")) for text in _sections())
    assert _sections()["**Next step:** is a heading of the old plan."] is SummarySection.CONTEXT
