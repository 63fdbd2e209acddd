"""A session: its header, its tree, and the leaf, labels and name in its entries."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.base.errors import NotFound
from leafward.base.safe_text import safe_line
from leafward.session.columns import look_up
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, text_at
from leafward.session.native_file import NativeFile
from leafward.session.tree.tree import SessionTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from leafward.session.columns import Columns
    from leafward.session.lines.entry_decoding import Entry
    from leafward.session.lines.scan import Scan
    from leafward.session.source import EntryLocation, Growth, Source

_SHOWN = 80
"""Code points of an id in an error."""


class Session:
    """A session open for reading: the tree over the columns of its source. Bodies are read on demand."""

    def __init__(self, source: Source) -> None:
        """A session over a source that is not read yet."""
        self.source = source
        self.path = source.path
        self.tree = _NOTHING_READ
        self.labels: dict[EntryIndex, str] = {}
        self.name: str | None = None
        self.appended = False
        """Whether an operation was appended to it since it was opened."""
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[Scan], object] = lambda _scan: None,
        scan: Scan | None = None,
    ) -> Session:
        """Reads a native session file. Raises NotASession with the reason in one line.

        A `scan` of the same file is taken over, and goes on where it ended.
        """
        return cls.of(NativeFile(path, scan), stop, publish)

    @classmethod
    def of(
        cls,
        source: Source,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[Scan], object] = lambda _scan: None,
    ) -> Session:
        """Reads a source; closes it where that fails, also by an interrupt. Raises NotASession."""
        try:
            session = cls(source)
            session.read(stop, publish)
        except BaseException:  # also an interrupt: nobody else could close the opened files
            source.close()
            raise
        return session

    # --- reading ---

    def close(self) -> None:
        """Closes its files, also those that another thread is just opening; bodies are no longer readable."""
        self._closed = True
        self.source.close()

    def read(self, stop: Callable[[], bool], publish: Callable[[Scan], object]) -> int:
        """Reads on to the end; returns the number of new entries. Raises NotASession."""
        added = self.source.read(stop, publish)
        self._take_in()
        return added

    def changed_on_disk(self) -> bool:
        """Whether a file changed since the last look; see `Source`."""
        return self.source.changed_on_disk()

    def refresh(self) -> Growth | None:
        """Reads appended entries; None where nothing changed, and of a closed session. Polled while following."""
        try:
            growth = self.source.refresh()
        finally:
            if self._closed:
                # Another thread closed it meanwhile, and did not see what was opened again.
                self.source.close()
        if growth is None or self._closed:
            return None
        self._take_in()
        return growth

    def reload(self) -> Growth:
        """Reads everything again, whatever has its name now. The old data stays where that is not a session (NotASession)."""
        growth = self.source.reload()
        self._take_in()
        return growth

    def _take_in(self) -> None:
        """Makes the tree of the source's entries, and reads labels and name from it."""
        self.tree = SessionTree(self.columns.parent, self.columns.kind)
        # Replaced in one assignment: another thread may be reading them.
        self.labels = _labels_in(self.source)
        self.name = self.source.given_name()

    @property
    def gone(self) -> bool:
        """Whether no file had the name at the last look."""
        return self.source.gone

    @property
    def scan(self) -> Scan:
        """The state of reading: another object once the session was read again."""
        return self.source.scan

    @property
    def columns(self) -> Columns:
        """Offsets, kinds, ids and parents of all entries."""
        return self.scan.columns

    def __len__(self) -> int:
        return len(self.scan.columns)

    @property
    def header(self) -> Body:
        """The header line; empty where the file has none."""
        return self.scan.header or {}

    @property
    def id(self) -> str:
        """The session's id; the file's name where there is no header."""
        found = self.header.get("id")
        return found if isinstance(found, str) else self.path.stem

    @property
    def cwd(self) -> str:
        """The folder the agent worked in; empty where the header does not say."""
        return text_at(self.header, "cwd")

    @property
    def version(self) -> int:
        """The file's version; a migrated file still says its own."""
        return self.scan.version

    # --- place ---

    @property
    def leaf(self) -> EntryIndex:
        """The entry that the next append becomes a child of: the last line (pi 1.5.2). -1 in an empty session."""
        return self.scan.last

    @property
    def own_leaf(self) -> EntryIndex:
        """The agent's own leaf; in a native file, and in another agent's session without a sidecar, it is the leaf."""
        return self.source.own_leaf

    @property
    def what_if(self) -> bool:
        """Whether the place is only in the sidecar: the agent itself goes on elsewhere."""
        return self.place != self.tree.content_at(self.own_leaf)

    @property
    def place(self) -> EntryIndex:
        """The place of the conversation: the leaf, or the nearest entry above it that is not bookkeeping."""
        return self.tree.content_at(self.leaf)

    @property
    def branches(self) -> int:
        """The number of branches besides the path to the place; what sub-agents said in the same file is none."""
        place, root, side_lines = self.place, self.tree.root, self.source.side_lines
        return sum(
            leaf != place and (not side_lines or root(leaf) not in side_lines) for leaf in self.tree.leaves()
        )

    # --- names ---

    @property
    def title(self) -> str | None:
        """The title: the name that somebody gave, else the agent's own title; one line."""
        return " ".join((self.name or self.source.own_title or "").split()) or None

    @property
    def inherited(self) -> int:
        """Number of leading entries that belong to another session as well: totals count them there."""
        return self.source.inherited

    @property
    def hoisted(self) -> bytearray:
        """A byte for each entry: whether it is sent ahead of the messages before it. Empty where none is, as by pi's rule."""
        return self.source.hoisted

    @property
    def unread(self) -> list[str]:
        """Unreadable parts of the session without an entry, a line each; a native file has none."""
        return [note.text for note in self.source.notes if note.lost]

    # --- writing ---

    @property
    def is_native(self) -> bool:
        """Whether operations are appended to the file itself. Those on another agent's session go to a sidecar."""
        return self.source.book is self.source

    @property
    def read_only(self) -> str | None:
        """The reason why the session is not writable; None where it is."""
        return self.source.read_only

    @property
    def book_path(self) -> Path:
        """The native file that operations are appended to; it may not exist yet."""
        return self.source.book_path

    def is_kept(self, index: int) -> bool:
        """Whether an entry is in the sidecar."""
        return self.source.is_kept(index)

    # --- entries ---

    def origin(self, index: int) -> EntryLocation:
        """The place of an entry's bytes."""
        return self.source.origin(index)

    def records(self, index: int) -> list[bytes]:
        """The stored records of an entry: its line, or several for other agents; for too large a line, the abridged one."""
        return self.source.records(index)

    def raw(self, index: int) -> bytes:
        """The stored bytes of an entry, however large, without the end of the last line: for copies."""
        return self.source.raw(index)

    def body(self, index: int) -> Body | None:
        """An entry in the current native format; None where its bytes proved to be broken."""
        return self.source.body(index)

    def bodies(
        self, entries: Iterable[int], pick: Callable[[int, bytes], bool] | None = None
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        """The bodies of many entries, in the order asked for, less those that `pick` refuses; see `Source`."""
        return self.source.bodies(entries, pick)

    def entry(self, index: int) -> Entry:
        """One entry, decoded."""
        return self.source.entry(index)

    def discredit(self, entries: Iterable[int]) -> None:
        """Marks entries whose bytes proved to be broken as damage."""
        self.source.discredit(entries)
        self._take_in()

    def find(self, selector: str) -> EntryIndex:
        """The entry that a user means: an id, a unique prefix of one, `leaf`, `root` or `#N`. Raises NotFound."""
        found = _entry_named(selector, self.scan, self.tree)
        if found < 0:
            if not len(self):
                raise NotFound(f"{self.path.name} has no entry yet")
            raise NotFound(f"no entry {selector!r} in {self.path.name}")
        return found


def problems_in(session: Session) -> int:
    """The number of problems: damaged entries, an incomplete last line, and unreadable parts without an entry."""
    return session.columns.damaged + (session.scan.pending is not None) + len(session.unread)


def verify(session: Session, at: EntryIndex | None = None) -> None:
    """Decodes all entries, or those of the path to one, and marks broken lines: a scan only looks at the beginnings of lines."""
    while True:
        checked = range(len(session)) if at is None else session.tree.path(at)
        kinds = session.columns.kind
        broken = [index for index, body in session.bodies(checked) if body is None and kinds[index]]
        if not broken:
            return
        session.discredit(broken)


def _entry_named(selector: str, scan: Scan, tree: SessionTree) -> EntryIndex:
    """The entry that an id, a unique prefix of one, `leaf`, `root` or `#N` means; -1 for none. Raises NotFound for several."""
    columns = scan.columns
    if selector == "leaf":
        return scan.last
    if selector == "root":
        return EntryIndex(next(iter(tree.children(NO_ENTRY)), NO_ENTRY))
    # The application writes `#1,234`.
    digits = selector[1:].replace(",", "")
    if selector.startswith("#") and digits.isdecimal():
        # A number with more digits than any file has entries is not meant as one.
        number = int(digits[:20])
        return EntryIndex(number) if number < len(columns) else NO_ENTRY
    index = columns.index(selector)
    if index >= 0:
        return index
    close = columns.starting_with(selector)
    if len(close) > 1:
        some = " and ".join(safe_line(str(columns.id(index)), _SHOWN) for index in close)
        raise NotFound(f"several entries start with {selector!r}, such as {some}")
    return close[0] if close else NO_ENTRY


def _labels_in(source: Source) -> dict[EntryIndex, str]:
    """The labels by entry: the last line about an entry counts, anywhere in the tree (pi 1.5.2)."""
    labels: dict[EntryIndex, str] = {}
    columns = source.scan.columns
    if Kind.LABEL not in columns.kind:
        return labels
    marks = [(index, body or {}) for index, body in source.bodies(_positions(columns.kind, Kind.LABEL))]
    targets = look_up(columns, [(index, str(body.get("targetId"))) for index, body in marks])
    for (_, body), target in zip(marks, map(EntryIndex, targets), strict=True):
        if target < 0:
            continue
        label = body.get("label")
        labels.pop(target, None)
        if isinstance(label, str) and label:
            labels[target] = label
    return labels


def _positions(kinds: bytearray, kind: Kind) -> Iterator[int]:
    at = kinds.find(kind)
    while at >= 0:
        yield at
        at = kinds.find(kind, at + 1)


_NOTHING_READ = SessionTree(array("i"), b"")
