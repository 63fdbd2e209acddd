"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from typing import TYPE_CHECKING

import leafward
from leafward.base import late_pattern
from leafward.base.late_pattern import late, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    pattern = late(r"(?i)a(\d)")
    assert pattern.sub("x", "A1 b A2") == "x b x"
    assert pattern.findall("A1 b a2") == ["1", "2"]
    assert pattern.fullmatch("A1") is not None
    assert pattern.match("b A1") is None
    assert pattern.groups == 1


def test_one_of_some_words_is_found_as_by_a_branch_for_each() -> None:
    words = ("cat", "cp", "c.t", "rm", "r", "+x", "cat")
    pattern = re.compile(rf"(?<!\w)(?:{one_of(words)})(?!\w)")
    assert [word for word in (*words, "cut", "ca", "c", "x", "rmx") if pattern.fullmatch(word)] == list(words)


def late_ones(value: object) -> Iterator[late_pattern._Late]:
    """The late patterns in a value of a module: itself, or within tuples and tables."""
    if isinstance(value, late_pattern._Late):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from late_ones(one)
    elif isinstance(value, dict):
        yield from late_ones(list(value.values()))


def test_each_one_of_the_package_can_be_compiled() -> None:
    """A fault shows only when a pattern is used, which a session may be the first to do."""
    every = [
        one
        for module in pkgutil.walk_packages(leafward.__path__, "leafward.")
        if not module.name.endswith("__main__")
        for value in vars(import_module(module.name)).values()
        for one in late_ones(value)
    ]
    assert len(every) > 100
    for one in every:
        re.compile(one.pattern)
