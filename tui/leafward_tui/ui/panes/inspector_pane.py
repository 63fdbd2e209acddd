"""The interface of the inspector for the screen that shows it: its methods and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual.message import Message

from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward_tui.ui.panes.inspector_tab import Tab
    from leafward_tui.ui.panes.page import Gauge, Page, Selection


class InspectorPane(Protocol):
    """The right pane of the explorer, which is a widget."""

    @property
    def tab(self) -> Tab:
        """The tab that is open."""
        ...

    @property
    def selection(self) -> Selection | None:
        """The selection that is shown, or about to be."""
        ...

    @property
    def page(self) -> Page | None:
        """The page on the screen."""
        ...

    @property
    def file(self) -> str:
        """The file under the cursor, as the session names it; empty where the keys go elsewhere, or for none."""
        ...

    def show(self, selection: Selection | None) -> None:
        """Shows another selection, as soon as its page is built; None empties the pane."""
        ...

    def reload(self) -> None:
        """Builds the page again, because the session has grown or its gauge has changed."""
        ...

    def show_tab(self, tab: Tab) -> None:
        """Opens a tab."""
        ...

    def seek(self, words: str, number: int = 0, entry: int = NO_ENTRY) -> None:
        """Lights the words of a search, unfolds sections that hold them, and goes to a hit; no words end the search.

        `number` is the hit's number within the selection, from 0; where each message is one line, the hit is the one of
        `entry`.
        """
        ...

    def show_gauge(self, gauge: Gauge | None) -> None:
        """Measures contexts by another window."""
        ...

    def show_tabs(self, shown: bool) -> None:
        """Shows the tabs, or leaves them to the screen."""
        ...

    def focus(self, scroll_visible: bool = True) -> object:
        """Gives the page the keys."""
        ...

    def copied_text(self) -> str:
        """The text that a copy takes now: the line under the cursor, or the page."""
        ...


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


class CopyWanted(Message, namespace="inspector"):
    """A text, already safe, is wanted on the clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class PageShown(Message, namespace="inspector"):
    """A page that was built in a job is on the screen."""

    def __init__(self, tab: Tab) -> None:
        super().__init__()
        self.tab = tab
