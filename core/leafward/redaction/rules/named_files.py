"""Files whose lines hold secrets without saying so: their name tells, in the same text or in the call before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_START = r"(?m)^(?:[ \t]{0,8}[0-9]{1,6}(?:\t|→|: ))?"
"""The beginning of a line, which may be numbered."""
_END = r"[ \t\r]*$"
_HOST = r"(?:\*|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
_FILES = (
    ("psk.txt", late(rf"{_START}(?:[0-9a-fA-F:.]{{3,45}}|[\w@-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,8}})[ \t]{{1,40}}(?P<value>[^\s#]{{3,200}}){_END}")),
    ("passwd.client", late(rf"{_START}{_HOST}:[\w.@+-]{{1,100}}:(?P<value>[^\s:]{{3,200}}){_END}")),
    ("rsyncd.secrets", late(rf"{_START}[\w.@-]{{1,63}}:(?P<value>[^\s:]{{3,200}}){_END}")),
    ("htdigest", late(rf"{_START}[\w.@-]{{1,63}}:[^:\n]{{1,100}}:(?P<value>[0-9a-f]{{32}}){_END}")),
    ("voicemail.conf", late(rf"{_START}[0-9]{{2,8}}[ \t]{{0,4}}=>[ \t]{{0,4}}(?P<value>[^\s,]{{3,60}}),")),
)  # fmt: skip
"""A name, and a line of such a file."""
NAMES = tuple(name for name, _ in _FILES)
_LONGEST_CALL = 4000


def file_read_by(call: str) -> int | None:
    """The place in the list of such files of the one that a call names, or a path; None without one."""
    if len(call) > _LONGEST_CALL:
        return None
    return next((place for place, (name, _) in enumerate(_FILES) if name in call), None)


def lines_of(text: str, file: int, at: int = 0) -> Iterator[Span]:
    """The secrets in the lines of such a file, from a place in a text on."""
    for found in _FILES[file][1].finditer(text, at):
        if is_secret(found["value"], Meaning.PASSWORD, ValueNotation.SETTING):
            yield (*found.span("value"), SecretKind.PASSWORD)


def named_files_in(text: str) -> Iterator[Span]:
    """The secrets in such files that a text names and shows."""
    for file, (name, _) in enumerate(_FILES):
        at = text.find(name)
        if at >= 0:
            yield from lines_of(text, file, at)
