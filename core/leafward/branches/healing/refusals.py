"""Errors with which a provider answered the last request of a session, as its agent recorded them in place of a reply.

They name problems that no rule finds in the file: thinking that the provider takes for changed, an image or a document that it
cannot read, a prompt that is too long. It had accepted everything up to the last reply, so the problem lies behind that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.messages import BROKEN_OFF, message_in, message_text

if TYPE_CHECKING:
    from leafward.session.session import Session

_REFUSED = re.compile(r"invalid_request|\b400\b|prompt is too long", re.IGNORECASE)
_THINKING = re.compile(
    r"thinking\b[^\n]*(?:cannot be modified|signature)|signature[^\n]*thinking", re.IGNORECASE
)
_IMAGE = re.compile(
    r"(?:could not|cannot|failed to|unable to) (?:process|decode|download) (?:the )?image"
    r"|(?:invalid|unsupported|corrupt\w*) image|image (?:data|exceeds|dimensions)",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"could not process pdf|\bpdf\b[^\n]*(?:not valid|password|cannot)", re.IGNORECASE)
_TOO_LONG = re.compile(r"prompt is too long|maximum context length|context_length_exceeded", re.IGNORECASE)
_COUNT = r"\d[\d,]{0,17}+"
_COUNTS = (
    re.compile(rf"(?<![\d,])(?P<sent>{_COUNT}) tokens > (?P<window>{_COUNT})"),
    re.compile(
        rf"maximum context length is (?P<window>{_COUNT}) tokens\D*+(?P<sent>{_COUNT}) tokens", re.IGNORECASE
    ),
)


class Excess(NamedTuple):
    """The excess of a prompt that was too long; zeros where it was not recorded."""

    sent: int
    """Tokens that the provider counted."""
    window: int


class Refusal(NamedTuple):
    """An error in place of the last reply of a session."""

    entry: EntryIndex
    text: str
    """As recorded: not safe to show."""
    taken: EntryIndex
    """The last reply before it: the provider once accepted everything up to there. -1 where there is none."""

    @property
    def of_thinking(self) -> bool:
        """Whether it is about thinking."""
        return _THINKING.search(self.text) is not None

    @property
    def of_images(self) -> bool:
        """Whether it is about an image."""
        return _IMAGE.search(self.text) is not None

    @property
    def of_documents(self) -> bool:
        """Whether it is about a document."""
        return _DOCUMENT.search(self.text) is not None

    @property
    def excess(self) -> Excess | None:
        """The excess of the prompt; None where the error is about something else."""
        for counts in _COUNTS:
            if found := counts.search(self.text):
                return Excess(_number(found["sent"]), _number(found["window"]))
        return Excess(0, 0) if _TOO_LONG.search(self.text) else None


def last_refusal(session: Session, place: int) -> Refusal | None:
    """The provider's last error behind the last reply on the path to a place; None without one."""
    kinds, parents = session.columns.kind, session.columns.parent
    refused, text = NO_ENTRY, ""
    at = place
    while at >= 0:
        if kinds[at] == Kind.ASSISTANT:
            message = message_in(session.body(EntryIndex(at)) or {})
            if message.get("stopReason") not in BROKEN_OFF:
                break
            error = str(message.get("errorMessage") or message_text(message))
            if refused < 0 and message.get("stopReason") == "error" and _REFUSED.search(error):
                refused, text = EntryIndex(at), error
        at = parents[at]
    return Refusal(refused, text, EntryIndex(at)) if refused >= 0 else None


def _number(text: str) -> int:
    return int(text.replace(",", ""))
