"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import gc
import pkgutil
import re
from importlib import import_module

import leafward
from leafward.base import late_pattern
from leafward.base.late_pattern import late


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    pattern = late(r"(?i)a(\d)")
    assert pattern.sub("x", "A1 b A2") == "x b x"
    assert pattern.findall("A1 b a2") == ["1", "2"]
    assert pattern.fullmatch("A1") is not None
    assert pattern.match("b A1") is None
    assert pattern.groups == 1


def test_each_one_of_the_package_can_be_compiled() -> None:
    """A fault shows only when a pattern is used, which a session may be the first to do."""
    for module in pkgutil.walk_packages(leafward.__path__, "leafward."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    every = [one for one in gc.get_objects() if type(one) is late_pattern._Late]
    assert len(every) > 100
    for one in every:
        re.compile(one.pattern)
