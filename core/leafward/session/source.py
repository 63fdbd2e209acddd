"""What a session is read from: a native file, or the files of another agent with our sidecar beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.session.entries import Body, EntryIndex
    from leafward.session.entry_decoding import Entry
    from leafward.session.scan import Scan


class Origin(NamedTuple):
    """Where the bytes of an entry lie."""

    path: Path
    offset: int
    """Of its first line in that file, in bytes; the number of a row where it lies in a database."""
    size: int
    """Bytes, of its first line or record where it is made of several."""
    is_row: bool = False
    """Whether it lies in a database."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a refresh found."""

    added: int
    """New entries at the end."""
    replaced: bool
    """The file shrank or is another one now; everything was read anew."""


UNCERTAIN_CONTEXT = "uncertain-context"
"""Code of a remark on an entry from which on the file does not tell what is sent, up to the next compaction."""


class Note(NamedTuple):
    """A reader's remark on a session: a missing base, a record it does not know."""

    code: str
    text: str
    """One line."""
    entry: EntryIndex = NO_ENTRY
    path: Path | None = None
    offset: int | None = None
    lost: bool = False
    """Whether something of the session could not be read that no entry stands for."""


class Source(Protocol):
    """Reads a session and its entries. Bodies are read when asked for, from any thread; nothing of them is kept."""

    path: Path
    tools: object
    """The tool table of the agent (`files.tool_calls.ToolTable`): how its calls name files. None where pi's holds."""
    scan: Scan
    """Header and columns of what was read, with what is kept beside it."""
    gone: bool
    """No file had the name any more when it was last looked at."""

    # --- reading ---

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads on to the end; returns how many entries came. Raises NotASession, saying why in one line."""
        ...

    def refresh(self) -> Growth | None:
        """Takes in what is new; None where nothing changed."""
        ...

    def reload(self) -> Growth:
        """Reads everything anew, whatever has its name now. What was read stays where that is no session (NotASession)."""
        ...

    def changed_on_disk(self) -> bool:
        """Whether a file is another than when it was last looked at; costs a stat for each.

        A file that is not there is no change: what was read can be read on, and `gone` says so.
        """
        ...

    def close(self) -> None:
        """Closes its files; bodies can no longer be read."""
        ...

    # --- entries ---

    def body(self, index: int) -> Body | None:
        """An entry in the current native format; None where its bytes proved to be broken."""
        ...

    def bodies(
        self, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for.

        With `pick` entries that it refuses may be left out; it is asked in the same order, each entry after the body before it
        was given.
        """
        ...

    def entry(self, index: int) -> Entry:
        """One entry with its body and what was stored of it."""
        ...

    def records(self, index: int) -> list[bytes]:
        """What an entry was made of: its line, and of other agents often several; of one that is too large, what is kept of it."""
        ...

    def raw(self, index: int) -> bytes:
        """What is stored of an entry, however large, without the end of its last line: for copies."""
        ...

    def origin(self, index: int) -> Origin:
        """Where an entry lies."""
        ...

    def discredit(self, entries: Iterable[int]) -> None:
        """Makes damage of entries whose bytes proved to be broken."""
        ...

    def is_kept(self, index: int) -> bool:
        """Whether an entry is kept by Leafward beside the agent's own files."""
        ...

    # --- the session as a whole ---

    def given_name(self) -> str | None:
        """The name that somebody gave the session."""
        ...

    @property
    def own_title(self) -> str | None:
        """What its agent calls it by itself."""
        ...

    @property
    def own_leaf(self) -> EntryIndex:
        """Where the agent itself goes on."""
        ...

    @property
    def task(self) -> int:
        """The prompt that another agent wrote, to hand a task to this one; -1 where a person began."""
        ...

    @property
    def inherited(self) -> int:
        """How many entries, from the first on, belong to another session as well: totals count them there."""
        ...

    @property
    def hoisted(self) -> bytearray:
        """A byte for each entry: whether it is sent ahead of the messages before it. Empty where none is, as by pi's rule."""
        ...

    @property
    def kept_until(self) -> Mapping[EntryIndex, EntryIndex]:
        """Where the agent went on from inside what a compaction kept: by entry, the last kept entry that is sent from there on.

        -1 where none is. Empty by pi's rule.
        """
        ...

    @property
    def notes(self) -> list[Note]:
        """Remarks of the reader."""
        ...

    def recorded_window(self, at: int) -> int | None:
        """The context window that the agent recorded for an entry, in tokens; None where it recorded none."""
        ...

    # --- writing ---

    @property
    def seen(self) -> os.stat_result:
        """The state of its first file when it was last read."""
        ...

    @property
    def read_only(self) -> str | None:
        """Why nothing can be written; None where it can."""
        ...

    @property
    def book(self) -> Source | None:
        """The native file that operations are appended to: itself, or the sidecar, None before the first operation."""
        ...

    @property
    def book_path(self) -> Path:
        """Where that file lies, or will."""
        ...

    def book_header(self, time: str) -> Body:
        """The first line of that file; of a sidecar that is about to be made, with the time."""
        ...

    def stamped(self, line: Body) -> Body:
        """A line about to be appended to that file, with what else has to be noted on it."""
        ...

    def went_on(self) -> str | None:
        """What became of the agent's files beside that one since they were read; None where they are as they were."""
        ...
