"""The user's keymap laid over the intents: the keys of each intent, the problems of the keymap, and the spelling of keys."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from textual.keys import _character_to_key

from leafward.base.safe_text import safe_line
from leafward_tui.ui.keys.intents import INTENTS, SCREENS, Intent, intent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNBOUND = "unbound"
"""A key that cannot be pressed. Textual ignores an empty entry of a keymap, so this is how a key is unbound."""

_LABELS = {
    "escape": "esc",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "at": "@",
    "apostrophe": "'",
    "quotation_mark": '"',
    "slash": "/",
    "backslash": "\\",
    "ampersand": "&",
    "comma": ",",
    "full_stop": ".",
    "colon": ":",
    "semicolon": ";",
    "plus": "+",
    "minus": "-",
    "underscore": "_",
    "equals_sign": "=",
    "asterisk": "*",
    "number_sign": "#",
    "dollar_sign": "$",
    "percent_sign": "%",
    "exclamation_mark": "!",
    "circumflex_accent": "^",
    "grave_accent": "`",
    "vertical_line": "|",
    "tilde": "~",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "pageup": "page up",
    "pagedown": "page down",
    "delete": "del",
}


def key_name(key: str) -> str:
    """A key by Textual's name, from a person's spelling: `[` is `left_square_bracket`, `esc` is `escape`."""
    text = key.strip() or key
    if len(text) == 1:
        return "space" if text == " " else str(_character_to_key(text))
    if len(text) > 2 and text[-2] == "+" and not text[-1].isalnum():  # ctrl+/ and the like
        return text[:-1].lower() + str(_character_to_key(text[-1]))
    return {"esc": "escape", "return": "enter", "del": "delete"}.get(text.lower(), text.lower())


def key_label(key: str) -> str:
    """A key as the interface writes it: one character where it is one, `esc`, `ctrl+p`."""
    modifiers, plus, last = key.rpartition("+")
    label = f"{modifiers}{plus}{_LABELS.get(last, last)}"
    # A configuration may name any character, and a terminal would obey some of them.
    return label if label.isprintable() else safe_line(label)


_ARROWS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}


class Keymap(NamedTuple):
    """Keys by intent."""

    keys: Mapping[str, tuple[str, ...]]
    """Textual's names of the keys of every intent, those of the default keymap included; empty where unbound."""
    changed: frozenset[str]
    """Intents whose keys are not the default ones."""
    problems: tuple[str, ...] = ()
    """Problems of the user's keymap, a sentence each."""
    arrows: bool = True
    """Whether arrow keys are written as arrows; as words where the terminal has ASCII only."""

    @classmethod
    def of(cls, overrides: Mapping[str, Iterable[str]]) -> Keymap:
        """The default keys with `overrides` (keys by intent id) laid over them.

        An unknown id is named with the nearest known one. Where two intents of one screen would share a key, the one
        the user bound has it and the other loses it; between two that the user bound, the first in the catalogue.
        """
        problems: list[str] = []
        keys = {entry.id: tuple(key_name(key) for key in entry.default_keys) for entry in INTENTS}
        defaults = dict(keys)
        named: set[str] = set()
        for intent_id, keys_wanted in overrides.items():
            if intent_id not in keys:
                close = get_close_matches(intent_id, keys, 1, 0.5)
                hint = f", did you mean {close[0]}?" if close else "; the help lists all"
                problems.append(f"keymap.{intent_id}: no such command{hint}")
                continue
            keys[intent_id] = tuple(dict.fromkeys(key_name(key) for key in keys_wanted if key))
            named.add(intent_id)
        for screen in SCREENS:
            problems.extend(_settle(screen, keys, named))
        changed = frozenset(intent_id for intent_id, found in keys.items() if found != defaults[intent_id])
        return cls(keys, changed, tuple(dict.fromkeys(problems)))

    @property
    def textual(self) -> dict[str, str]:
        """The keys for `App.set_keymap`: only those that differ from the default."""
        return {intent_id: ",".join(self.keys[intent_id]) or UNBOUND for intent_id in sorted(self.changed)}

    def label(self, intent_id: str) -> str:
        """The first key of an intent as the interface writes it; empty where it has none."""
        return next(iter(self.labels(intent_id)), "")

    def label_while_typing(self, intent_id: str) -> str:
        """The first key of an intent that is no letter, so that a field leaves it alone; else the first."""
        labels = self.labels(intent_id)
        return next(
            (label for label in labels if len(label) > 1 or label in _ARROWS.values()),
            labels[0] if labels else "",
        )

    def labels(self, intent_id: str) -> tuple[str, ...]:
        """All keys of an intent as the interface writes them."""
        return tuple(map(self._written, self.keys[intent_id]))

    def _written(self, key: str) -> str:
        modifiers, plus, last = key.rpartition("+")
        return f"{modifiers}{plus}{_ARROWS[last]}" if self.arrows and last in _ARROWS else key_label(key)


def _settle(screen: str, keys: dict[str, tuple[str, ...]], named: set[str]) -> list[str]:
    """Takes keys that two intents of the screen share from one of them; a sentence for each."""
    owners: dict[str, Intent] = {}
    problems = []
    here = [entry for entry in INTENTS if screen in entry.screens]
    for entry in sorted(here, key=lambda entry: entry.id not in named):
        for key in keys[entry.id]:
            owner = owners.setdefault(key, entry)
            if owner is entry:
                continue
            keys[entry.id] = tuple(kept for kept in keys[entry.id] if kept != key)
            problems.append(
                f"keymap: {key_label(key)} is bound to {owner.id} and to {entry.id}; {owner.id} has it"
                + ("" if keys[entry.id] else f", {intent(entry.id).id} is left without a key")
            )
    return problems
