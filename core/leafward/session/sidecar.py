"""Leafward's sidecar of another agent's session: a native session file whose entries join the agent's.

Nothing of the agent's is touched. The parent of a sidecar entry is one of the agent's entries, or another one of the
sidecar, by its id. Each records the agent's entry after which it was written, and stands there among them: so all of it
reads like one file that both wrote to, and nothing moves when the agent goes on.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import NotASession
from leafward.base.late_pattern import late
from leafward.base.paths import data_dir
from leafward.session.columns import ID_SIZE, Columns
from leafward.session.entries import (
    BOOKKEEPING,
    BOOKKEEPING_BYTES,
    MARK,
    NO_ENTRY,
    Body,
    Damage,
    EntryIndex,
    Kind,
)
from leafward.session.file_stamps import stamp_of
from leafward.session.lines.line_decoding import CURRENT_VERSION
from leafward.session.native_file import NativeFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from leafward.session.file_stamps import Stamp

FORMAT = 1
"""The version of sidecars: raised when an older Leafward would misread one."""
FOLDER = "sidecar"
SUFFIX = ".jsonl"
AFTER = "after"
"""The field of a line with the agent's state at the time of writing: its last entry, its place, its file if that is new."""

_UNSAFE = late(r"[^\w.-]+")


class Owner(NamedTuple):
    """The session that a sidecar belongs to, wherever its files lie."""

    agent: str
    session: str
    """The session's own id."""


def sidecar_folder() -> Path:
    """The folder of all sidecars, with a folder for each agent."""
    return data_dir() / FOLDER


def sidecar_path(owner: Owner) -> Path:
    """The path of a session's sidecar; the file exists once it has an entry."""
    # See `Columns.digest`.
    from hashlib import blake2b

    owner_bytes = "\0".join(owner).encode("utf-8", "surrogatepass")
    digest = blake2b(owner_bytes, digest_size=16).hexdigest()
    return sidecar_folder() / _UNSAFE.sub("-", owner.agent.lower()) / f"{digest}{SUFFIX}"


class Sidecar:
    """The file beside one session, as last read; it may be missing."""

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.path = sidecar_path(owner)
        self.book: NativeFile | None = None
        """The file, open; None where it is missing or unreadable."""
        self.trouble: str | None = None
        """The reason why it is unreadable; None where it is readable or missing."""
        self.known_path = ""
        """The path of the session at the last write."""
        self._stamp: Stamp | None = None

    def changed(self) -> bool:
        """Whether it changed since it was read; costs one stat."""
        return stamp_of(self.path) != self._stamp

    def read(self) -> None:
        """Reads the file. Never raises: the agent's session opens whatever the state of our file."""
        now = stamp_of(self.path)
        if now is None or (self.trouble is not None and now != self._stamp):
            self.close()
        self._stamp = now
        if now is None or self.trouble is not None:
            return
        try:
            if self.book is None:
                self.book = NativeFile.open(self.path)
            else:
                self.book.refresh()
            self._refuse_strange(self.book)
        except NotASession as error:
            self.close()
            self.trouble = str(error)

    def _refuse_strange(self, book: NativeFile) -> None:
        """Raises NotASession where the file names another owner."""
        mark = book.header.get(MARK)
        if book.header and not isinstance(mark, dict):
            raise NotASession(f"{self.path} is not a sidecar")
        if isinstance(mark, dict) and (mark.get("agent"), mark.get("session")) != self.owner:
            raise NotASession(f"{self.path} belongs to another session")

    def close(self) -> None:
        """Closes the file and forgets it."""
        if self.book is not None:
            self.book.close()
        self.book, self.trouble = None, None

    @property
    def read_only(self) -> str | None:
        """The reason why nothing more can be written to it; None where it can."""
        if self.trouble is not None:
            return f"Leafward's file for it cannot be read: {self.trouble}"
        book = self.book
        if book is None:
            return None
        mark = book.header.get(MARK)
        form = mark.get("sidecar") if isinstance(mark, dict) else None
        why = book.read_only
        if why is None and book.scan.version < CURRENT_VERSION:
            why = f"the file is of version {book.scan.version}, older than {CURRENT_VERSION}"
        if why is None and form != FORMAT:
            why = "a newer Leafward wrote the file"
        return f"Leafward's file for it cannot be added to: {why} ({self.path})" if why is not None else None

    def header(self, path: Path, cwd: str, time: str) -> Body:
        """The first line of a new sidecar, for a session at a path."""
        owner = {"sidecar": FORMAT, "agent": self.owner.agent, "session": self.owner.session}
        head = {"type": "session", "version": CURRENT_VERSION, "id": self.path.stem, "timestamp": time}
        return {**head, "cwd": cwd, MARK: {**owner, "path": str(path)}}


def every_sidecar() -> Iterator[Path]:
    """The sidecars of all sessions, and the remains of killed writes beside them."""
    try:
        folders = sorted(one for one in sidecar_folder().iterdir() if one.is_dir())
        for folder in folders:
            yield from sorted(folder.iterdir())
    except OSError:
        return


def belongs_to(path: Path) -> tuple[Owner, str]:
    """The owner of a sidecar, and its session's path at the last write. Raises NotASession."""
    book = NativeFile.open(path)
    try:
        mark = book.header.get(MARK)
        if not isinstance(mark, dict):
            raise NotASession(f"{path} is not a sidecar")
        owner = Owner(str(mark.get("agent")), str(mark.get("session")))
        return owner, _known_path(book, [_after(body) for _, body in book.bodies(range(len(book)))])
    finally:
        book.close()


@dataclass(frozen=True, slots=True)
class Joined:
    """The agent's entries and the sidecar's, in the order in which they were written."""

    columns: Columns
    """`start` is that of the agent's entries; for a sidecar entry, the start of the agent's next one."""
    leaf: EntryIndex
    own_leaf: EntryIndex
    """The agent's own leaf."""
    slots: array[int]
    """For each sidecar entry the number of the agent's entries before it; never less than for the one before."""
    places: array[int]
    """The index of each sidecar entry, ascending."""

    def sidecar_number(self, index: int) -> int:
        """The number of the sidecar entry at an index; -1 where that is the agent's."""
        at = bisect_left(self.places, index)
        return at if at < len(self.places) and self.places[at] == index else -1

    def theirs(self, index: int) -> int:
        """The number of the agent's entry at an index that is not the sidecar's."""
        return index - bisect_left(self.places, index)

    def place(self, index: int) -> EntryIndex:
        """The index of one of the agent's entries; -1 stays -1."""
        return EntryIndex(_moved(index, self.slots))

    def count(self, theirs: int) -> int:
        """The number of entries up to the first `theirs` of the agent's, the sidecar's among them included."""
        return theirs + bisect_left(self.slots, theirs)

    def spread(self, column: bytearray) -> bytearray:
        """A column of the agent's entries with a zero for each sidecar entry."""
        return _spliced(column, self.slots, [b"\0"] * len(self.slots)) if column else column


def _place_in(columns: Columns, leaf: int) -> EntryIndex:
    """The conversation's place at a leaf: the nearest entry at or above it that is not bookkeeping."""
    while leaf >= 0 and columns.kind[leaf] in BOOKKEEPING:
        leaf = columns.parent[leaf]
    return EntryIndex(leaf)


def position_in(columns: Columns, leaf: int) -> Body:
    """The agent's position, as a sidecar line records it: its last entry and its place."""
    place = _place_in(columns, leaf)
    last = len(columns) - 1
    return {
        "last": columns.id(EntryIndex(last)) if last >= 0 else None,
        "place": columns.id(place) if place >= 0 else None,
    }


def joined(theirs: Columns, own_leaf: EntryIndex, size: int, sidecar: Sidecar) -> Joined:
    """The entries of another agent's session, of `size` bytes, joined with its sidecar.

    The last sidecar line decides the leaf, as in a native file, as long as the agent's place is the recorded one and it has
    said nothing since: from then on its own leaf counts. An entry whose parent is gone becomes a marked root.
    """
    book = sidecar.book
    if book is None or not len(book):
        return Joined(theirs, own_leaf, own_leaf, array("i"), array("i"))
    kept, count = book.columns, len(book)
    afters = [_after(body) for _, body in book.bodies(range(count))]
    sidecar.known_path = _known_path(book, afters)
    above = _parents_in(theirs, book)
    slots = _slots(theirs, afters, above)
    places = array("i", (slot + number for number, slot in enumerate(slots)))
    columns = _columns(theirs, kept, slots, places, above, size)
    leaf = own = EntryIndex(_moved(own_leaf, slots))
    last_line = book.scan.last
    if last_line >= 0 and _stands(theirs, own_leaf, afters[last_line], slots[last_line]):
        at = EntryIndex(places[last_line])
        leaf = at if _hangs(columns, at, set(places)) else own
    return Joined(columns, leaf, own, slots, places)


def _slots(theirs: Columns, afters: list[Body], above: dict[int, int]) -> array[int]:
    """The number of the agent's entries before each sidecar entry, as recorded when it was written.

    A line without that number was torn, and closed by the write of the next line: its place is directly before that one.
    """
    slots = array("i", [0]) * len(afters)
    known: dict[str, int] = {}
    following = 0
    for number in range(len(afters) - 1, -1, -1):
        last = afters[number].get("last")
        if isinstance(last, str):
            if last not in known:
                known[last] = theirs.index(last) + 1
            following = known[last]
        slots[number] = following
    slot = 0
    for number, slot_now in enumerate(slots):
        slot = slots[number] = max(slot, slot_now, above.get(number, NO_ENTRY) + 1)
    return slots


def _after(body: Body | None) -> Body:
    after = body.get(AFTER) if body is not None else None
    return after if isinstance(after, dict) else {}


def _known_path(book: NativeFile, afters: list[Body]) -> str:
    mark = book.header.get(MARK)
    paths = [mark.get("path") if isinstance(mark, dict) else None, *(after.get("path") for after in afters)]
    return next((path for path in reversed(paths) if isinstance(path, str)), "")


def _parents_in(theirs: Columns, book: NativeFile) -> dict[int, int]:
    """The sidecar entries with a parent among the agent's, each with that; without those whose parent is missing."""
    found = {}
    for number, name in book.scan.orphans.items():
        parent = theirs.index(name if isinstance(name, str) else name.decode("utf-8", "replace"))
        if parent >= 0:
            found[number] = int(parent)
    return found


def _stands(theirs: Columns, own_leaf: int, after: Body, slot: int) -> bool:
    """Whether a line still decides the leaf: the agent is where it was, and has said nothing since."""
    if "place" not in after or theirs.kind[slot:].translate(None, BOOKKEEPING_BYTES):
        return False
    return bool(position_in(theirs, own_leaf)["place"] == after["place"])


def _hangs(columns: Columns, index: int, places: Collection[int]) -> bool:
    """Whether the parents of a sidecar entry lead to one of the agent's, or to before everything, without a missing one."""
    while index in places:
        if columns.damage.get(index) in (Damage.ORPHAN, Damage.CYCLE):
            return False
        index = columns.parent[index]
    return True


def _columns(
    theirs: Columns, kept: Columns, slots: array[int], places: array[int], above: dict[int, int], size: int
) -> Columns:
    """The columns of agent and sidecar merged, each sidecar entry after as many of the agent's as `slots` says."""
    count = len(kept)
    ids = [bytes(kept.ids[at * ID_SIZE : (at + 1) * ID_SIZE]) for at in range(count)]
    starts = [theirs.start[slot] if slot < len(theirs) else size for slot in slots]
    parents = [
        places[parent] if parent >= 0 else _moved(above.get(number, NO_ENTRY), slots)
        for number, parent in enumerate(kept.parent)
    ]
    first = slots[0]
    if max(theirs.parent[:first], default=NO_ENTRY) >= first:
        # A damaged file may name parents that come after their children.
        first = 0
    shifted = theirs.parent[:first] + array("i", (_moved(one, slots) for one in theirs.parent[first:]))
    made = Columns(
        _spliced_array(theirs.start, slots, starts),
        _spliced(theirs.kind, slots, [bytes((kind,)) for kind in kept.kind]),
        _spliced(theirs.ids, array("i", (slot * ID_SIZE for slot in slots)), ids),
        _spliced_array(shifted, slots, parents),
        {_moved(index, slots): name for index, name in theirs.other_ids.items()},
        {_moved(index, slots): damage for index, damage in theirs.damage.items()},
        [*(_moved(index, slots) for index in theirs.own), *(places[index] for index in kept.own)],
    )
    made.own.sort()
    for number, name in kept.other_ids.items():
        # A line without an id is named by its offset, as the agent's are.
        made.other_ids[places[number]] = f"kept-{name}" if kept.kind[number] == Kind.MALFORMED else name
    for number, damage in kept.damage.items():
        if damage is not Damage.ORPHAN or number not in above:
            made.damage[places[number]] = damage
    return made


def _moved(index: int, slots: array[int]) -> int:
    return index + bisect_right(slots, index) if index >= 0 else index


def _spliced(column: bytearray, slots: array[int], pieces: list[bytes]) -> bytearray:
    made, at = bytearray(), 0
    for slot, piece in zip(slots, pieces, strict=True):
        made += column[at:slot]
        made += piece
        at = slot
    return made + column[at:]


def _spliced_array(column: array[int], slots: array[int], values: list[int]) -> array[int]:
    made, at = array(column.typecode), 0
    for slot, value in zip(slots, values, strict=True):
        made += column[at:slot]
        made.append(value)
        at = slot
    return made + column[at:]
