"""The texts about rows besides their headlines."""

from __future__ import annotations


class RowTexts:
    """Texts by first entry of a row. Written by `controllers/row_metrics`."""

    __slots__ = ("counted", "lost", "notes", "repeated")

    def __init__(self) -> None:
        self.notes: dict[int, str] = {}
        """The sizes of a compaction, the files of a turn."""
        self.lost: dict[int, int | None] = {}
        """Facts that compactions lost, None where the summary is encrypted; filled while the application is idle."""
        self.repeated: dict[int, tuple[int, int]] = {}
        """Repeats soon after compactions, and their tokens."""
        self.counted: dict[int, int] = {}
        """Number of the session's entries at the time of both counts; -1 where the counts are final."""
