"""The messages of the inspector to the screen that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward_tui.inspector.tab import Tab


# Plain classes: each of them is made before the first frame, and a dataclass takes as long as loading a module.


class EntryWanted(Message, namespace="inspector"):
    """An entry is wanted in the tree."""

    def __init__(self, entry: EntryIndex) -> None:
        super().__init__()
        self.entry = entry


class XRayWanted(Message, namespace="inspector"):
    """A compaction is wanted before and after."""

    def __init__(self, compaction: int) -> None:
        super().__init__()
        self.compaction = compaction


class ExamWanted(Message, namespace="inspector"):
    """A model is to sit the exam of a compaction."""

    def __init__(self, compaction: int) -> None:
        super().__init__()
        self.compaction = compaction


class TabChanged(Message, namespace="inspector"):
    """Another tab is open."""

    def __init__(self, tab: Tab) -> None:
        super().__init__()
        self.tab = tab


class PageShown(Message, namespace="inspector"):
    """A page that was built in a job is on the screen."""

    def __init__(self, tab: Tab) -> None:
        super().__init__()
        self.tab = tab
