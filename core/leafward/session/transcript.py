"""The two values that the reader of an agent's session gives: a transcript of its entries, and the translation of single ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from leafward.base.safe_text import safe_line
from leafward.session.entries import Body, EntryIndex
from leafward.session.source import EntryLocation, SourceRemark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from leafward.session.columns import Columns
    from leafward.session.lines.scan import Pending

OF_AGENT = "of_agent"
"""The field of an entry that every session of its agent has: instructions, environment, reminders."""
DOCUMENT = "document"
"""The field of a text that identifies a document by name, which tells why a provider refuses it; else empty."""
NAMESPACE = "namespace"
"""The field of a call: the text before the first dot of its tool's name."""
RESHAPED = "reshaped"
"""The field of a call whose stored arguments were not an object."""
UNANSWERED = "unanswered"
"""The field of a call that the provider runs itself, where the reply holds no result."""


_TYPES_NAMED = 8
_NAME = 60
"""Characters of a type's name that are told: a broken record may have a whole text in its place."""


def unknown_records(types: Mapping[str, int], entry: int, path: Path, offset: int | None) -> SourceRemark:
    """A remark on records of types that a reader does not know: the number of each, and the place of the first one."""
    listed = sorted(types.items(), key=lambda one: (-one[1], one[0]))
    names = ", ".join(f"{safe_line(name, _NAME)} ({count:,})" for name, count in listed[:_TYPES_NAMED])
    if len(listed) > _TYPES_NAMED:
        names += f" and {len(listed) - _TYPES_NAMED} more types"
    text = f"unknown records, kept as they are: {names}"
    return SourceRemark("unknown-record", text, EntryIndex(entry), path, offset)


@dataclass(slots=True)
class Transcript:
    """The content of an agent's files as its reader found it."""

    header: Body
    """The values of a native header: `id`, `timestamp`, `cwd`, and `parentSession` where there is one.

    `name` is there where the agent records a title that somebody gave.
    """
    columns: Columns
    """`start` counts through all files, one after the other."""
    leaf: EntryIndex
    files: tuple[Path, ...]
    """Every file it was made from: where one of them changes, the transcript may change too."""
    size: int = 0
    """Bytes of all of them."""
    notes: list[SourceRemark] = field(default_factory=list)
    pending: Pending | None = None
    """An unterminated last line that is no record yet."""
    inherited: int = 0
    """Number of leading entries that belong to another session, copied or based on. Totals count them there."""
    beside: tuple[Path, ...] = ()
    """Optional files that change the transcript."""
    changed: Callable[[], bool] | None = None
    """Called where a file changed: whether this session changed, of the many in the file. None: it always did."""
    hoisted: bytearray = field(default_factory=bytearray)
    """A byte for each entry: whether it is sent ahead of the messages before it, up to the last reply or result.

    Empty where no entry is.
    """
    kept_until: dict[int, int] = field(default_factory=dict)
    """Entries below a compaction at which the agent went on from inside the part that the compaction kept.

    Each maps to the last kept entry that is sent from there on; to -1 where none is.
    """
    changed_outside: dict[int, str] = field(default_factory=dict)
    """Entries that tell of a file that changed since the agent last saw it, with the file's name."""
    side_lines: list[int] = field(default_factory=list)
    """The first entries of the conversations of sub-agents that stand in the file of the session that started them."""
    missing: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Prompts at which the agent did not find files that it tracks, with the files' names."""
    numbered: str = ""
    """The field in which the agent numbers the records of a file without a gap; empty where it numbers none."""


class Translation(Protocol):
    """An agent's records in native form, entry by entry. Callable from any thread."""

    def body(self, index: int) -> Body | None:
        """An entry in native form; None where its bytes proved to be broken."""
        ...

    def brief(self, index: int) -> Body | None:
        """The text that a person or the model said in an entry, as `body` gives it but without time, cost and other fields.

        None also where neither of them said anything. An entry of any other kind is whole.
        """
        ...

    def outcome(self, index: int) -> tuple[str, bool] | None:
        """The call that an entry answers, and whether it failed; None where the entry is no result or holds more."""
        ...

    def usage(self, index: int) -> Body | None:
        """The `usage` of an entry as `body` gives it, without the rest; None where the body has none, or there is none."""
        ...


class Reader(Protocol):
    """A reader of one session of an agent, open as long as the session; only one thread at a time may call `read`."""

    @property
    def translation(self) -> Translation:
        """The entries as they were last read; there is none before that."""
        ...

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Reads everything, in bounded memory: no body is kept. Later calls may go on at the previous end.

        Raises NotASession with the reason in one line.
        """
        ...

    def records(self, index: int) -> list[bytes]:
        """The stored records of an entry: lines of a file, or documents of their own. Callable from any thread."""
        ...

    def origin(self, index: int) -> EntryLocation:
        """The place of the first of them."""
        ...

    def close(self) -> None:
        """Releases open files."""
        ...


@runtime_checkable
class TellsWindow(Protocol):
    """A reader of an agent that records its model's context window."""

    def window(self, index: int) -> int | None:
        """The window in force at an entry, in tokens; None where nothing says so."""
        ...


@runtime_checkable
class TellsBytes(Protocol):
    """A reader of a session in many records, which change without getting longer."""

    def digest(self, entries: int) -> bytes:
        """A digest of the first entries and their records."""
        ...

    def settled(self) -> int | None:
        """The number of first entries of which that was proved without a look at every record; None where all records are read."""
        ...


class KeptReading(NamedTuple):
    """A reading of a file, for a cache: no text of the conversation is in it."""

    data: bytes
    names: tuple[str, ...]
    """Names of files and folders in it, and whatever else may be private."""


@runtime_checkable
class ReadsOn(Protocol):
    """A reader that goes on in another process."""

    def kept(self) -> KeptReading | None:
        """Its reading; None where a later reading cannot go on from there."""
        ...

    def go_on_from(self, data: bytes) -> None:
        """Takes what a reader of the same file kept, before anything is read. Bytes that cannot be used count as none."""
        ...
