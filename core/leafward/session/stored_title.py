"""A title that an agent stored for a session: which texts are none, as they only say that a model could not be asked."""

from __future__ import annotations

import re

_ERROR = re.compile(
    r"""
    (?:API[ ]Error(?:[ ]*[:(·]|[ ]+[45][0-9]{2}\b|\Z)
    | [45][0-9]{2}[ ]*(?:\{|(?:[A-Za-z]+[ ]){0,3}Error\.?\Z)
    | \{"(?:type|error)":
    | (?:Invalid|Missing)[ ]API[ ]key(?:[ ]*[.:·!]|\Z)
    | Please[ ]run[ ]/login\b
    | Not[ ]logged[ ]in(?:[ ]*[.:·!]|\Z)
    | Credit[ ]balance[ ]is[ ]too[ ]low\b
    | Claude(?:[ ](?:AI|Code))?[ ]usage[ ]limit[ ]reached\b
    | (?:OAuth[ ])?(?:token|authentication)[ ]\w+[ ]*·
    | Failed[ ]to[ ]authenticate\b
    | There's[ ]an[ ]issue[ ]with[ ]the[ ]selected[ ]model\b
    | (?:Request[ ]timed[ ]out|Connection[ ]error|Internal[ ]server[ ]error|Unauthorized|Overloaded|Prompt[ ]is[ ]too[ ]long)\.?\Z
    )
    | .*·[ ](?:Please[ ]run[ ]/login|Fix[ ]external[ ]API[ ]key|Run[ ]/login)\b
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LOOKED_AT = 400
"""Code points of a text that decide."""


def is_error_text(text: str) -> bool:
    """Whether a text that stands where a title is expected says that the provider refused a request or was not reached.

    Claude Code for one stored what it was answered instead of a summary.
    """
    return _ERROR.match(text[:_LOOKED_AT].lstrip()) is not None


def title_or_none(text: object) -> str | None:
    """A title that an agent gave; None where it is none: no text, blank, or an error."""
    if not isinstance(text, str):
        return None
    title = text.strip()
    return title if title and not is_error_text(title) else None
