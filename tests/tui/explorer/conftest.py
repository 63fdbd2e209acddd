"""What the tests of the explorer's controllers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.without_screen import Explorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tui.explored import Named


@pytest.fixture
def explorer(file: Named) -> Iterator[Explorer]:
    made = Explorer(file)
    yield made
    made.session.close()
