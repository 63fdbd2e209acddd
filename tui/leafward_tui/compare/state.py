"""The state of the comparison. Each part names the controller that writes it; the others read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from leafward.files.file_replay.bases import WorkspaceBases
from leafward_tui.compare.model.content import ContentRequest, Show
from leafward_tui.compare.model.files import Column
from leafward_tui.ui.screens.session_watch import FileState

if TYPE_CHECKING:
    from leafward.branches.diff.contents import ContentDifference, SideContents
    from leafward.branches.diff.file_sets import FileDifference
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward.files.file_replay.bases import Bases
    from leafward.session.session import Session
    from leafward_tui.compare.model.carried_summary import CarriedSummary
    from leafward_tui.compare.model.compared_sides import ComparedSides
    from leafward_tui.compare.model.content import Shown
    from leafward_tui.compare.model.context_page import MessageRow


class Page(StrEnum):
    """A tab, by its label."""

    FILES = "Files"
    CONTENTS = "Contents"
    CONTEXT = "Context"
    SUMMARY = "Summary"
    OUTCOME = "Outcome"


@dataclass(slots=True)
class ReadState:
    """The values of both sides; None where they are not known yet. Written by `controllers.loader`."""

    ends: tuple[int, int]
    """A and B."""
    overall: ComparedSides | None = None
    messages: list[MessageRow] | None = None
    summaries: SummaryDifference | None = None
    carried: tuple[CarriedSummary, ...] | None = None
    trouble: str = ""
    """The reason why there is no comparison."""


@dataclass(slots=True)
class PageState:
    """The tab on show. Written by `controllers.pages`."""

    page: Page = Page.FILES


@dataclass(slots=True)
class FilesState:
    """The lists of files. Written by `controllers.files`."""

    column: Column = Column.BOTH
    """The column that keys went to last, where there are three."""
    file: FileDifference | None = None
    """The file under the cursor."""
    unfolded: bool = False
    """Whether untouched files are listed."""
    based: bool = False
    """Whether contents of the workspace may be the base of files."""
    same: dict[bool, dict[str, bool | None]] = field(default_factory=lambda: {False: {}, True: {}})
    """Known results of whether both sides are the same, by path: without contents of the workspace, and with them."""


@dataclass(slots=True)
class ContentState:
    """The contents of one file. Written by `controllers.content`."""

    show: Show = Show.SIDES
    fold: bool = True
    """Whether lines that are the same are folded, in contents and summaries."""
    opened: dict[str, frozenset[int]] = field(default_factory=dict)
    """Blocks of same lines that were opened, by file."""
    shown: Shown | None = None
    rebuilt: int = 0
    """Files that were rebuilt so far; work counted for tests."""
    contents: dict[bool, SideContents] = field(default_factory=dict)
    """The rebuilders of files: without contents of the workspace, and with them."""
    differences: dict[tuple[str, bool], ContentDifference] = field(default_factory=dict)
    """Rebuilt files, by path and whether contents of the workspace were used."""
    laid: dict[ContentRequest, Shown] = field(default_factory=dict)
    """The kept layouts."""


@dataclass(slots=True)
class CompareState:
    """Two entries of a session."""

    session: Session
    read: ReadState
    mark: int = -1
    """The marked entry; -1 for none."""
    pages: PageState = field(default_factory=PageState)
    files: FilesState = field(default_factory=FilesState)
    content: ContentState = field(default_factory=ContentState)
    file: FileState = field(default_factory=FileState)
    closed: Event = field(default_factory=Event)
    """Set once the screen is gone, to stop all rebuilding."""

    @property
    def page(self) -> Page:
        """The tab on show."""
        return self.pages.page

    @property
    def folder(self) -> Path | None:
        """The folder of the session; None where it is missing."""
        folder = Path(self.session.cwd)
        return folder if folder.is_absolute() and folder.is_dir() else None

    def bases(self) -> Bases | None:
        """Possible contents of files before the session; None where the user does not want them, or the folder is missing."""
        folder = self.folder
        return WorkspaceBases(folder) if self.files.based and folder is not None else None

    def wanted(self) -> ContentRequest | None:
        """The layout that is to be on the screen; None where no file is chosen."""
        file, content = self.files.file, self.content
        if file is None:
            return None
        opened = content.opened.get(file.path, frozenset())
        return ContentRequest(file.path, content.show, content.fold, opened, self.files.based)
