"""The part of a compaction's summary that Leafward put there itself: context that the summary is not to lose.

It stands between two marker lines, so that it can be told from the summary: it is no summary, it is not taken for one when
the next compaction carries the summary on, and nothing is extracted from it again.
"""

from __future__ import annotations

OPENING = "<leafward-context>"
CLOSING = "</leafward-context>"


def enclose(text: str) -> str:
    """`text` between the marker lines; an empty text stays empty."""
    return f"{OPENING}\n{text}\n{CLOSING}" if text else ""


def split_enclosed(text: str) -> tuple[str, str]:
    """A stored summary as the summary itself and what was injected, without the marker lines.

    Markers count where they stand alone on their line. One that is opened and never closed encloses nothing. Blank lines
    around an enclosed part go with it.
    """
    if OPENING not in text:
        return text, ""
    summary: list[str] = []
    injected: list[str] = []
    waiting: list[str] | None = None
    for line in text.split("\n"):
        mark = line.strip()
        if mark == OPENING:
            if waiting is not None:
                summary += [OPENING, *waiting]
            waiting = []
        elif waiting is None:
            summary.append(line)
        elif mark == CLOSING:
            injected += waiting
            waiting = None
            while summary and not summary[-1].strip():
                summary.pop()
        else:
            waiting.append(line)
    if waiting is not None:
        summary += [OPENING, *waiting]
    return "\n".join(summary), "\n".join(injected)
