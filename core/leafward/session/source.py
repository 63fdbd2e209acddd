"""The source of a session: a native file, or the files of another agent with our sidecar beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.session.entries import Body, EntryIndex
    from leafward.session.lines.entry_decoding import Entry
    from leafward.session.lines.scan import Scan


class EntryLocation(NamedTuple):
    """The place of an entry's bytes."""

    path: Path
    offset: int
    """Offset of its first line in that file, in bytes; the number of a row in a database."""
    size: int
    """The bytes of the entry, or of its first line or record where there are several."""
    is_row: bool = False
    """Whether it lies in a database."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The result of a refresh."""

    added: int
    """New entries at the end."""
    replaced: bool
    """Whether the file shrank or is another one now; everything was read again."""


UNCERTAIN_CONTEXT = "uncertain-context"
"""Code of a remark on an entry after which the file does not show the sent context, up to the next compaction."""


GOES_ON = "goes-on"
"""Code of a remark on the first entry of a session whose requests begin with the conversation of another one."""


class SourceRemark(NamedTuple):
    """A reader's remark on a session, such as a missing base or an unknown record."""

    code: str
    text: str
    """One line."""
    entry: EntryIndex = NO_ENTRY
    path: Path | None = None
    offset: int | None = None
    lost: bool = False
    """Whether an unreadable part of the session has no entry."""


class Source(Protocol):
    """A reader of a session and its entries. Bodies are read on demand, from any thread; none are kept."""

    path: Path
    tools: object
    """The agent's tool table (`files.tool_calls.ToolTable`): how its calls name files. None where pi's applies."""
    gone: bool
    """Whether no file had the name at the last look."""
    hoisted: bytearray
    """A byte for each entry: whether it is sent ahead of the messages before it. Empty where none is, as by pi's rule."""
    kept_until: Mapping[EntryIndex, EntryIndex]
    """Entries at which the agent went on inside the part that a compaction kept, each with the last kept one sent, or -1.

    Empty by pi's rule.
    """
    changed_outside: Mapping[EntryIndex, str]
    """Entries that tell of a file that changed since the agent last saw it, with the file's name as the agent writes it.

    Somebody changed it, or a command of the agent did.
    """
    side_lines: Collection[EntryIndex]
    """The first entries of sub-agents' conversations in the file of the session that started them: they are no branches of it."""
    missing: Mapping[EntryIndex, tuple[str, ...]]
    """Prompts at which the agent did not find files that it tracks, with the files' names as the agent writes them.

    Somebody or a command removed them, or the agent did when it restored the files of an earlier prompt.
    """

    # --- reading ---

    @property
    def scan(self) -> Scan:
        """Header and columns of the session, the sidecar's entries included."""
        ...

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads on to the end; returns the number of new entries. Raises NotASession with the reason in one line."""
        ...

    def refresh(self) -> Growth | None:
        """Reads new entries; None where nothing changed."""
        ...

    def reload(self) -> Growth:
        """Reads everything again, whatever has its name now. The old data stays where that is not a session (NotASession)."""
        ...

    def changed_on_disk(self) -> bool:
        """Whether a file changed since the last look; costs a stat for each.

        A missing file is not a change: the data read so far stays readable, and `gone` is set.
        """
        ...

    def close(self) -> None:
        """Closes its files; bodies are no longer readable."""
        ...

    # --- entries ---

    def body(self, index: int) -> Body | None:
        """An entry in the current native format; None where its bytes proved to be broken."""
        ...

    def bodies(
        self, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for.

        Entries that `pick` refuses may be left out; it is called in the same order, for each entry after the body before it
        was yielded.
        """
        ...

    def entry(self, index: int) -> Entry:
        """One entry with its body and its stored bytes."""
        ...

    def records(self, index: int) -> list[bytes]:
        """The stored records of an entry: its line, or several for other agents; for too large a line, the abridged one."""
        ...

    def raw(self, index: int) -> bytes:
        """The stored bytes of an entry, however large, without the end of the last line: for copies."""
        ...

    def origin(self, index: int) -> EntryLocation:
        """The place of an entry's bytes."""
        ...

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose bytes proved to be broken as damage."""
        ...

    def is_kept(self, index: int) -> bool:
        """Whether an entry is in the sidecar."""
        ...

    # --- the session as a whole ---

    def given_name(self) -> str | None:
        """The name that somebody gave the session."""
        ...

    @property
    def own_title(self) -> str | None:
        """The agent's own title of the session."""
        ...

    @property
    def own_leaf(self) -> EntryIndex:
        """The agent's own leaf."""
        ...

    @property
    def task(self) -> int:
        """The prompt by which another agent handed a task to this one; -1 where a person began."""
        ...

    @property
    def inherited(self) -> int:
        """Number of leading entries that belong to another session as well: totals count them there."""
        ...

    @property
    def notes(self) -> list[SourceRemark]:
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
        """The reason why the session is not writable; None where it is."""
        ...

    @property
    def book(self) -> Source | None:
        """The native file that operations are appended to: itself, or the sidecar, None before the first operation."""
        ...

    @property
    def book_path(self) -> Path:
        """The path of that file, which may not exist yet."""
        ...

    def book_header(self, time: str) -> Body:
        """The first line of that file; for a new sidecar, with the time."""
        ...

    def stamped(self, line: Body) -> Body:
        """A line about to be appended to that file, with further notes on it."""
        ...

    def went_on(self) -> str | None:
        """The change of the agent's files beside that one since they were read, in words; None where they are unchanged."""
        ...
