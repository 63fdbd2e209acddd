"""The items of a list in a summary: what those above an item say of it, a file that it is about or the state of the work."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from leafward.base.emphasis import without_emphasis

_FILE_ALONE = re.compile(
    r"[*_`\"]{0,4}([\w@.~/+-]{0,200}[\w@~+-]\.\w{1,10})[*_`\"]{0,4}(?: \([^()\n]{1,80}\))?[*_`\"]{0,4}:?[*_`]{0,4}"
)
"""An item that is the name of a file, perhaps with a remark in brackets: the items below it are about that file."""


class WorkState(Enum):
    """How work stands that a label is put before."""

    DONE = auto()
    IN_PROGRESS = auto()
    BLOCKED = auto()
    LEFT = auto()


_LABEL = re.compile(
    r"(?i)(?P<bold>[*_]{2,3})?(?:"
    r"(?P<LEFT>(?:what(?:['’]s| is) )?left(?: to (?:do|be done))?|(?:still |yet )?to[- ]?do|remaining(?: (?:work|tasks?|steps?|items?))?|next(?: steps?)?|pending|outstanding|not (?:yet )?(?:done|started)"
    r"|noch (?:offen|zu tun)|offen|à faire|reste à faire|pendientes?|por hacer|falta|próximos pasos|待办|待完成|剩余(?:工作|任务)?|未完成|下一步|残り|未着手)"
    r"|(?P<IN_PROGRESS>(?:currently |still )?in progress|ongoing|wip|in arbeit|en cours|en (?:progreso|curso)|进行中|正在进行|進行中)"
    r"|(?P<BLOCKED>blocked|blockers?|blockiert|bloqué|bloqueado|受阻|ブロック)"
    r"|(?P<DONE>completed|done|finished|accomplished|erledigt|fertig|terminé|fait|completado|hecho|terminado|已完成|完成済み|完了)"
    r")(?: (?:so far|bisher))?(?:\s?[(（][^()（）]{1,40}[)）])?(?(bold)(?:[*_]{2,3}\s?[:：]|[:：][*_]{2,3})|\s?[:：]$)\s*"
)
"""A label in bold before an item, or alone: a summary of opencode (1.1 to 1.3) tells completed, current and remaining work below one heading."""


class Placed(NamedTuple):
    """An item with what it and the items above it say of it."""

    text: str
    """Its words without a label; empty where it is only a label."""
    file: str
    """The file that the item above it names, where it is an item below that; else empty."""
    state: WorkState | None
    """The state of the work that its label, or the one above it, says; None without a label."""
    intro: str = ""
    """The words of the item above it that lead to it; empty where that tells something itself, or names a file."""


class _Item(NamedTuple):
    depth: int
    file: str
    state: WorkState | None
    leads: bool
    """Whether it is only a label, and no item below it was read yet."""
    intro: str = ""
    """Its words, where it leads to the items below it."""


@dataclass(slots=True)
class ItemsAbove:
    """The items of a list that the next one may stand below."""

    _items: list[_Item] = field(default_factory=list)

    def clear(self) -> None:
        """Forgets all items: a new section begins."""
        self._items.clear()

    def place(self, text: str, depth: int, *, labels: bool) -> Placed:
        """An item `depth` blanks from the edge; `labels` says that those of work may stand before it."""
        beside: _Item | None = None
        while self._items and self._items[-1].depth >= depth:
            beside = self._items.pop()
        above = self._items[-1] if self._items else None
        if above is not None and above.leads:
            self._items[-1] = above._replace(leads=False)
        state = above.state if above is not None else None
        label = _LABEL.match(text) if labels else None
        leads = False
        if label is not None:
            state = next(one for one in WorkState if label[one.name])
            text = text[label.end() :]
            leads = not text
        elif beside is not None and beside.leads and beside.depth == depth:
            # What follows a label in the same list belongs to it.
            state, leads = beside.state, True
        file = above.file if above is not None else ""
        named = _FILE_ALONE.fullmatch(text)
        intro = (
            without_emphasis(text).strip("*_ ").rstrip(":： *_")
            if named is None and text.rstrip("*_ ").endswith((":", "："))
            else ""
        )
        self._items.append(_Item(depth, named[1] if named is not None else file, state, leads, intro))
        return Placed(text, file, state, above.intro if above is not None else "")


def is_file_alone(text: str) -> bool:
    """Whether a line of a summary is only the name of a file, perhaps with a remark in brackets."""
    return _FILE_ALONE.fullmatch(text) is not None
