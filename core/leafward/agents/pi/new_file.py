"""Common parts of new files for pi, whether copied or converted (pi 1.5.2): the header, linked lines, the draft."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import uuid4

from leafward.agents.fork_draft import ForkDraft
from leafward.agents.resume import Resume, own_variables
from leafward.base.times import iso_stamp
from leafward.session.journal.lines import encode_line
from leafward.session.lines.line_decoding import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.entries import Body
    from leafward.session.journal.write import WriteRemark
    from leafward.session.session import Session


class Chain:
    """Lines that are appended one after the other."""

    def __init__(self, above: str | None, terms: ForkTerms) -> None:
        self.above = above
        self.taken: set[str] = set()
        self._terms = terms

    def fresh(self) -> str:
        """An unused id."""
        while (made := uuid4().hex[:8]) in self.taken:
            continue
        return made

    def line(self, body: Body, name: str | None = None) -> bytes:
        """One line, linked to the last one."""
        name = name if name is not None and name not in self.taken else self.fresh()
        self.taken.add(name)
        place = {
            "id": name,
            "parentId": self.above,
            "timestamp": body.get("timestamp") or iso_stamp(self._terms.now),
        }
        self.above = name
        return encode_line(
            {"type": body["type"], **place, **{key: value for key, value in body.items() if key not in place}}
        )

    def injected(self) -> bytes:
        """The line with the added text."""
        return self.line(
            {
                "type": "custom_message",
                "customType": f"leafward.{self._terms.injected_as}",
                "content": self._terms.injected,
                "display": True,
            }
        )


def folder_of(cwd: str) -> str:
    """The name of pi's folder for the sessions of a working folder."""
    inner = cwd[1:] if cwd.startswith(("/", "\\")) else cwd
    for sign in "/\\:":
        inner = inner.replace(sign, "-")
    return f"--{inner}--"


def header_of(session: Session, terms: ForkTerms) -> Body:
    """The first line of a new file made from a session. Raises Refused where no working folder is known."""
    return {
        "type": "session",
        "version": CURRENT_VERSION,
        "id": str(uuid4()),
        "timestamp": iso_stamp(terms.now),
        "cwd": terms.folder(session, "pi"),
        "parentSession": os.path.abspath(session.path),
    }


def draft_of(
    header: Body,
    folder: Path,
    content: Callable[[], Iterable[bytes]],
    terms: ForkTerms,
    kept: int,
    left: int,
    remarks: tuple[WriteRemark, ...] = (),
    earlier: int = 0,
) -> ForkDraft:
    """A draft of a file in a folder, under the name that pi would give it."""
    moment = str(header["timestamp"]).replace(":", "-").replace(".", "-")
    file = folder.absolute() / f"{moment}_{header['id']}.jsonl"
    cwd = str(header["cwd"])
    return ForkDraft(
        agent="pi",
        id=str(header["id"]),
        path=file,
        file=file,
        content=content,
        resume=Resume(("pi", "--session", str(file)), cwd, own_variables(terms.env)),
        kept=kept,
        left=left,
        remarks=remarks,
        earlier=earlier,
    )
