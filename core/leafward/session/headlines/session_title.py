"""The title of a session: its name, a title that its agent stored, or the first thing that was typed.

A stored text that reports a failed request to a model is not a title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.base.safe_text import safe_line
from leafward.session.entries import TYPED, Kind
from leafward.session.headlines.entry_headline import LIMIT, headline
from leafward.session.messages import is_bare_command, prompt_text

if TYPE_CHECKING:
    from leafward.session.session import Session

_ERROR = late(
    r"""(?xis)
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
    """
)
_COMMANDS_TRIED = 16
"""Custom messages that are searched for the first command."""
_LOOKED_AT = 400
"""Code points of a text that decide."""


def is_error_text(text: str) -> bool:
    """Whether a text in the place of a title reports that the provider refused a request or was not reached.

    Claude Code, for one, stored such an answer in the place of a summary.
    """
    return _ERROR.match(text[:_LOOKED_AT].lstrip()) is not None


def title_or_none(text: object) -> str | None:
    """A title that an agent gave; None where it is not text, blank, or an error."""
    if not isinstance(text, str):
        return None
    title = text.strip()
    return title if title and not is_error_text(title) else None


def title_of(session: Session) -> str | None:
    """The title of a session, else its first prompt (a fork's own), else the first typed command; None where it has none."""
    if session.title:
        return session.title
    first = first_prompt(session)
    return headline(session, first).text if first >= 0 else typed_command(session)


def first_prompt(session: Session) -> int:
    """The first prompt, a fork's own where it has one; a prompt without words only where no other comes soon; -1 for none."""
    kinds = session.columns.kind
    first = kinds.find(Kind.USER, session.inherited)
    first = at = first if first >= 0 else kinds.find(Kind.USER)
    for _ in range(_COMMANDS_TRIED):
        if at < 0:
            break
        body = session.body(at) or {}
        if prompt_text(body).strip() and not is_bare_command(body):
            return at
        at = kinds.find(Kind.USER, at + 1)
    return first


def typed_command(session: Session) -> str | None:
    """The first command that somebody typed, where that began a turn; None where no entry has one."""
    kinds = session.columns.kind
    at = -1
    for _ in range(_COMMANDS_TRIED):
        at = kinds.find(Kind.CUSTOM_MESSAGE, at + 1)
        if at < 0:
            break
        typed = (session.body(at) or {}).get(TYPED)
        if isinstance(typed, str):
            return safe_line(typed, LIMIT)
    return None
