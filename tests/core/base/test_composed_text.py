"""Normal forms are Python's own, and take no longer than the text."""

from __future__ import annotations

import random
import sys
import time
import unicodedata
from typing import TYPE_CHECKING, Literal

import pytest

from leafward.base.composed_text import composed
from leafward.compaction.injection.plain_text import clean
from leafward.files.text_replacement import bare
from leafward.query.search.case_folding import folded
from tests.core.linear_time import in_linear_time

if TYPE_CHECKING:
    from pathlib import Path

Form = Literal["NFC", "NFKC"]
FORMS: tuple[Form, ...] = ("NFC", "NFKC")
TWO_MARKS = "\u0f73\u0f75\u0f81"
"""Characters that are no marks, and two marks once they are decomposed."""
MARKS = [char for char in map(chr, range(0x300, sys.maxunicode + 1)) if unicodedata.combining(char)]
OTHERS = [*"aeé가각─“ \n\uff9e\uff9f\u0344\u00a8", *TWO_MARKS]


@pytest.mark.parametrize("form", FORMS)
def test_the_normal_form_is_pythons(form: Form) -> None:
    chosen = random.Random(7)
    for _ in range(400):
        pool = chosen.choices(MARKS, k=6) + OTHERS
        text = "".join(chosen.choices(pool, k=chosen.choice((3, 40, 200))))
        assert composed(text, form) == unicodedata.normalize(form, text), ascii(text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repeated", ["\u0301\u0323", "\u0f73", "\uff9e\u0301", "─\u0301\u0323", "é"])
def test_twice_the_marks_take_twice_the_time(form: Form, repeated: str) -> None:
    """Four times as many took sixteen times as long."""

    def seconds(count: int) -> float:
        text = "e" + repeated * count
        best = []
        for _ in range(3):
            begin = time.process_time()
            composed(text, form)
            best.append(time.process_time() - begin)
        return min(best)

    assert seconds(16_000) < 8 * seconds(4_000) + 0.02


@pytest.mark.parametrize("normal", [folded, bare, clean])
def test_who_composes_text_takes_this_one(normal: object) -> None:
    assert callable(normal)
    with in_linear_time(1):
        normal("e" + "\u0301\u0323" * 25_000)


OF_ONE_CHARACTER = "query/search/literals.py"
"""It asks Python for the form of single characters, in which there is nothing to sort."""


def test_nobody_else_composes_text(repository: Path) -> None:
    modules = [
        path for room in ("core/leafward", "tui/leafward_tui") for path in (repository / room).rglob("*.py")
    ]
    asking = [
        path.as_posix() for path in modules if "unicodedata.normalize(" in path.read_text(encoding="utf-8")
    ]
    others = [path for path in asking if not path.endswith(("base/composed_text.py", OF_ONE_CHARACTER))]
    assert len(asking) == len(others) + 2
    assert others == []
