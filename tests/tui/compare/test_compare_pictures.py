"""The Compare screen as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from tests.tui.compared import HIGH
from tests.tui.explored import NARROW
from tests.tui.pictures import INTO_A_BRANCH, picture

if TYPE_CHECKING:
    from pathlib import Path


COMPARED = (*INTO_A_BRANCH, "m", "at", "d")
"""The last turn of a branch marked, then the leaf."""


def test_picture(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *COMPARED, size=HIGH)


def test_picture_narrow_and_ascii(snap_compare: Any, demo: Path) -> None:
    assert picture(snap_compare, demo, *COMPARED, size=NARROW, config=Config(ascii=True))
