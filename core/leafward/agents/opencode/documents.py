"""Documents for `opencode import` (1.2 and later), and ids in opencode's form."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.fork_draft import ForkDraft, Import
from leafward.agents.resume import Resume, own_variables
from leafward.agents.storage.json_text import written
from leafward.base.paths import imports_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.fork_draft import ForkTerms
    from leafward.agents.opencode.storage.store import Store
    from leafward.session.entries import Body
    from leafward.session.journal.write import WriteRemark

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TAIL = 14
_WRAP = 1 << 48
_STEPS_PER_MS = 4096
TITLE = "opencode"
"""The agent's name as people write it."""


class Ids:
    """Fresh ids of one session: those of messages and parts ascend in the order of the calls, as far as opencode's do.

    An id begins with the time, so a later call returns a larger id, even where the times are equal.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._last = 0
        self._count = 0
        self.latest = 0
        """The latest time of a message with an id, in milliseconds."""

    def session(self, milliseconds: int) -> str:
        """The session's own id: newer ones sort first."""
        return self._id("ses", _WRAP - 1 - milliseconds * _STEPS_PER_MS % _WRAP)

    def message(self, milliseconds: int, parts: int = 0) -> str:
        """A message's id, from the time of the message; it leaves room for `parts` ids of parts before ids begin again from zero."""
        self.latest = max(self.latest, milliseconds)
        self._last = max(self._last + 1, milliseconds * _STEPS_PER_MS)
        if self._last % _WRAP + parts >= _WRAP:
            self._last += _WRAP - self._last % _WRAP
        return self._id("msg", self._last % _WRAP)

    def part(self) -> str:
        """The id of the last message's next part."""
        self._last += 1
        return self._id("prt", self._last % _WRAP)

    def _id(self, kind: str, number: int) -> str:
        self._count += 1
        digest = blake2b(f"{kind}{self._count}".encode(), digest_size=16, key=self._seed).digest()
        rest, tail = int.from_bytes(digest, "big"), ""
        for _ in range(_TAIL):
            rest, digit = divmod(rest, len(_DIGITS))
            tail += _DIGITS[digit]
        return f"{kind}_{number:012x}{tail}"


def document(info: Body, messages: Iterator[Body]) -> Iterator[bytes]:
    """A document in pieces, a message at a time."""
    yield b'{"info":' + written(info) + b',"messages":['
    comma = b"\n"
    for message in messages:
        yield comma + written(message)
        comma = b",\n"
    yield b"\n]}\n"


def injected_message(terms: ForkTerms, session: str, ids: Ids, model: Body) -> Body:
    """A message with the added text: opencode marks a message that nobody typed as synthetic, and sends it."""
    # opencode orders messages by time, and this one follows the others, even after the clock was set back.
    now = max(round(terms.now.timestamp() * 1000), ids.latest + 1)
    name = ids.message(now, 1)
    part = {"id": ids.part(), "sessionID": session, "messageID": name, "type": "text"}
    info: Body = {
        "id": name,
        "sessionID": session,
        "role": "user",
        "time": {"created": now},
        "agent": "build",
    }
    if model:
        info["model"] = model
    return {"info": info, "parts": [{**part, "text": terms.injected, "synthetic": True}]}


def draft_of(
    *,
    session: str,
    database: str,
    cwd: str,
    content: Callable[[], Iterator[bytes]],
    kept: int,
    left: int,
    remarks: tuple[WriteRemark, ...],
    terms: ForkTerms,
    store: Store,
) -> ForkDraft:
    """A draft of a session for the import into a database. `store`: see `store_variables`."""
    removed, added = store
    file = imports_dir() / f"{session}.json"

    def command(*argv: str) -> Resume:
        return Resume(("opencode", *argv), cwd, (*own_variables(terms.env), *removed), added)

    return ForkDraft(
        agent="opencode",
        id=session,
        path=Path(database) / session,
        file=file,
        content=content,
        resume=command("-s", session),
        kept=kept,
        left=left,
        remarks=remarks,
        imported=Import(command("import", str(file)), command("session", "delete", session)),
    )
