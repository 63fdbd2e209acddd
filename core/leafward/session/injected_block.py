"""The injected part of a compaction's summary: context that Leafward added and that the summary must not lose.

Two marker lines separate it from the summary: it is not a summary, it is not read as one when the next compaction carries
the summary on, and no facts are extracted from it again.
"""

from __future__ import annotations

OPENING = "<leafward-context>"
CLOSING = "</leafward-context>"


def enclose(text: str) -> str:
    """`text` between the marker lines; an empty text stays empty."""
    return f"{OPENING}\n{text}\n{CLOSING}" if text else ""


def split_enclosed(text: str) -> tuple[str, str]:
    """A stored summary as the summary itself and the injected text, without the marker lines.

    A marker counts where it is alone on its line. An opening marker without a closing one encloses nothing. Blank lines
    around an enclosed part are dropped.
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
