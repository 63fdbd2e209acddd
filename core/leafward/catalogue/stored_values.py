"""Checks that values read back from the index have the types and bounds of stored values, so that none of them crashes a reader.

Our own file is trusted no more than files of others. A wrong value of the right type cannot be detected; a value of a wrong
type, a path that no system accepts, an unknown agent or an unsafe text makes the whole file unusable.
"""

from __future__ import annotations

import math
import os
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeGuard

from leafward.agents.registry import all_agents
from leafward.base.safe_text import safe
from leafward.catalogue.cards.card import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.agents.base import Stamp

_TEXT = frozenset({str})
_TEXT_OR_NONE: frozenset[type] = frozenset({str, type(None)})
_WHOLE = frozenset({int})
_WHOLE_OR_NONE: frozenset[type] = frozenset({int, type(None)})
_TRUTH = frozenset({bool})
_NUMBER = frozenset({int, float})

_FIELDS: Mapping[str, frozenset[type]] = {
    "agent": _TEXT,
    "id": _TEXT,
    "name": _TEXT_OR_NONE,
    "title": _TEXT,
    "prompt": _TEXT,
    "project": _TEXT,
    "created": _WHOLE_OR_NONE,
    "modified": _WHOLE,
    "entries": _WHOLE_OR_NONE,
    "messages": _WHOLE_OR_NONE,
    "turns": _WHOLE_OR_NONE,
    "branches": _WHOLE_OR_NONE,
    "compactions": _WHOLE_OR_NONE,
    "tokens": _WHOLE_OR_NONE,
    "model": _TEXT_OR_NONE,
    "parent": _TEXT_OR_NONE,
    "relation": _TEXT_OR_NONE,
    "archived": _TRUTH,
    "damage": _WHOLE,
    "midway": _TRUTH,
    "problem": _TEXT_OR_NONE,
    "size": _WHOLE,
    "version": _WHOLE,
    "origin": _WHOLE,
    "partial": _TRUTH,
    "estimated": _TRUTH,
    "lacks_prompt": _TRUTH,
    "warm_up": _TRUTH,
}
"""The types of a card's fields, without its path."""

_MARK = (_WHOLE, _WHOLE, _TEXT, _TEXT, _WHOLE, _TRUTH)
_SPENT = (_WHOLE, _WHOLE, _NUMBER, _WHOLE, _TRUTH)
_PLAIN = bytes(range(0x20, 0x7F))
_SHOWN = ("title", "prompt", "problem")
"""Texts that have passed `safe_line` and are shown unchanged."""
_LARGEST = 2**62
_SIGNED = ("created", "modified")


def fitted(reading: Reading) -> Reading:
    """A reading whose values can be stored and read back: numbers out of bounds, which a session may contain, are cut.

    One session must not make the index unusable for all others.
    """
    card, details, mark, spent = reading
    changes: dict[str, Any] = {
        name: _fitted(value, allowed, signed=name in _SIGNED)
        for (name, allowed), value in zip(_FIELDS.items(), card[1:], strict=True)
        if type(value) not in allowed or (type(value) is int and not -1 < value <= _LARGEST)
    }
    if any(not 0 <= abs(number) <= _LARGEST for day in spent for number in day[:4]):
        spent = tuple(
            day._replace(
                day=_cut(day.day),
                tokens=_cut(day.tokens),
                cost=float(_cut(day.cost)),
                priced=_cut(day.priced),
            )
            for day in spent
        )
    return Reading(card._replace(**changes) if changes else card, details, mark, spent)


def _fitted(value: object, allowed: frozenset[type], *, signed: bool) -> object:
    if allowed in (_WHOLE, _WHOLE_OR_NONE) and isinstance(value, (int, float)):
        number = _cut(value)
        return number if signed else max(0, number)
    if type(None) in allowed:
        return None
    return "" if allowed is _TEXT else next(iter(allowed))()


def _cut(value: float) -> int:
    """A number cut to the bounds of stored numbers."""
    if value != value or abs(value) == math.inf:  # noqa: PLR0124  # an int may be too large to be asked
        return 0
    return int(max(-_LARGEST, min(_LARGEST, value)))


def check_column(name: str, values: list[Any]) -> None:
    """Raises ValueError or TypeError if these are not values of a card's field; for repeated values, each once is enough."""
    allowed = _FIELDS[name]
    if name in _SHOWN or allowed is _TEXT:
        texts = [value for value in values if value is not None] if allowed is not _TEXT else values
        # Joining is the fastest way to check that all of them are texts.
        joined = "".join(texts)
        if name in _SHOWN:
            _check_shown(name, joined)
    else:
        _check_types(name, values, allowed)
    if allowed in (_WHOLE, _WHOLE_OR_NONE):
        known = [value for value in values if value is not None]
        _check_range(name, known, signed=name in _SIGNED)
    if name == "agent" and not set(values) <= {agent.name for agent in all_agents()}:
        raise ValueError("agent: one that is not known")


def check_holds_numbers(name: str) -> None:
    """Raises ValueError if a field of a card is not one of whole numbers."""
    if _FIELDS[name] not in (_WHOLE, _WHOLE_OR_NONE):
        raise ValueError(f"{name}: numbers")


def check_folders(folders: object) -> None:
    """Raises ValueError if this is not a mapping of files by folder; stamps are checked when they are compared."""
    if not isinstance(folders, dict) or not set(map(type, folders.values())) <= {dict} or "" in folders:
        raise ValueError("folders: not by name")


def check_paths(paths: Iterable[str]) -> None:
    """Raises ValueError if no system accepts one of the paths: it would crash whoever opens the file."""
    joined = "".join(paths)
    if "\0" in joined or (not joined.isascii() and not os.fsencode(joined)):
        raise ValueError("folders: a name with NUL")


def is_stamp(value: object) -> TypeGuard[Stamp]:
    """Whether a value has the form of a stamp."""
    return isinstance(value, list) and len(value) > 1 and set(map(type, value)) <= _WHOLE


def check_stamps(stamps: object) -> None:
    """Raises ValueError if these are not stamps by name."""
    if not isinstance(stamps, dict) or not all(map(is_stamp, stamps.values())):
        raise ValueError("stamps: not by name")


def _check_shown(name: str, joined: str) -> None:
    """Raises ValueError if texts that are shown unchanged are not safe."""
    # Most characters are plain ASCII; removing them first is the fastest way to check.
    rest = joined.encode("utf-8").translate(None, _PLAIN).decode("utf-8")
    if rest and ("\n" in rest or safe(rest) != rest):
        raise ValueError(f"{name}: not safe to show")


def check_marks(marks: Sequence[Any]) -> None:
    """Raises ValueError or TypeError if a mark is malformed."""
    _check_rows("mark", [one for one in marks if one is not None], _MARK)


def check_spent(spent: Sequence[Any]) -> None:
    """Raises ValueError or TypeError if the usage is not a list of days."""
    _check_types("spent", spent, frozenset({list}))
    days = list(chain.from_iterable(spent))
    _check_rows("spent", days, _SPENT)
    if not all(math.isfinite(day[2]) for day in days):
        raise ValueError("spent: a cost that is no number")


def check_texts(name: str, texts: Sequence[Any], *, joined: bool = False) -> None:
    """Raises ValueError or TypeError if these are not texts that can be shown; with `joined`, each may have several lines."""
    together = "".join(texts)
    _check_shown(name, together.replace("\n", "") if joined else together)


def _check_rows(name: str, rows: Sequence[Any], types: Sequence[frozenset[type]]) -> None:
    _check_types(name, rows, frozenset({list}))
    if not set(map(len, rows)) <= {len(types)}:
        raise ValueError(f"{name}: of another length")
    for allowed, values in zip(types, zip(*rows, strict=True), strict=False):
        _check_types(name, values, allowed)
        if allowed in (_WHOLE, _NUMBER):
            _check_range(name, values, signed=True)


def _check_types(name: str, values: Iterable[Any], allowed: frozenset[type]) -> None:
    if not set(map(type, values)) <= allowed:
        raise ValueError(f"{name}: a value of another type")


def _check_range(name: str, values: Sequence[int], *, signed: bool) -> None:
    if values and not (-_LARGEST if signed else 0) <= min(values) <= max(values) <= _LARGEST:
        raise ValueError(f"{name}: a number out of range")
