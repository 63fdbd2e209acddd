"""Secrets in sessions, located by kind, session and entry; a secret itself is never shown.

The same secret in several places has the same number. The number reveals nothing about the secret, whereas a
fingerprint would help somebody who guesses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.errors import LeafwardError, NotASession
from leafward.base.times import parse_time
from leafward.redaction.redaction import Redactor
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """A secret in an entry of a session."""

    secret: int
    """The number of the secret, counted from 1 in the order of discovery."""
    kind: str
    card: Card
    entry: str | None
    """The entry's id; None for what is stored of the session as a whole."""
    time: int | None
    """When the entry was written, in milliseconds since 1970; None where that is not recorded."""


@dataclass(frozen=True, slots=True)
class UnreadSession:
    """A session that could not be read."""

    path: str
    reason: str


@dataclass(slots=True)
class Audit:
    """A look through sessions for secrets."""

    cards: Sequence[Card]
    searched: int = 0
    """Sessions that were read."""
    unread: list[UnreadSession] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def run(self, publish: Callable[[int, int], object]) -> Iterator[SecretPlace]:
        """Every place, session by session in the order of the cards.

        `publish` receives the counts of done and all sessions.
        """
        for done, card in enumerate(self.cards):
            publish(done, len(self.cards))
            if card.problem is not None:
                self.unread.append(UnreadSession(card.path, card.problem))
                continue
            try:
                session = agent_named(card.agent).open(Path(card.path))
            except (LeafwardError, OSError) as error:
                self.unread.append(UnreadSession(card.path, str(error)))
                continue
            try:
                yield from self._session(card, session)
                self.searched += 1
            except (NotASession, OSError) as error:
                self.unread.append(UnreadSession(card.path, getattr(error, "strerror", None) or str(error)))
            finally:
                session.close()

    def _session(self, card: Card, session: Session) -> Iterator[SecretPlace]:
        described = agent_named(card.agent).description(card.path)
        # One for all entries: what one of them names is found in later ones without its name.
        redactor = Redactor()
        for secret, kind in self._secrets([session.header, described], redactor):
            yield SecretPlace(secret, kind, card, None, parse_time(session.header.get("timestamp")))
        columns = session.columns
        for index in range(len(session)):
            found = self._secrets(
                [
                    record.decode("utf-8", "backslashreplace")
                    if (value := decode_line(record)) is None
                    else value
                    for record in session.records(index)
                ],
                redactor,
            )
            if found:
                # Looked up only here: most entries hold no secret.
                entry = session.entry(index)
                time = parse_time(entry.body.get("timestamp"))
                name = columns.id(entry.index)
                for secret, kind in found:
                    yield SecretPlace(secret, kind, card, name, time)

    def _secrets(self, values: list[object], redactor: Redactor) -> list[tuple[int, str]]:
        """The distinct secrets in values, each as its number and kind."""
        found: dict[int, str] = {}

        def note_secret(kind: str, secret: str) -> None:
            number = self._numbers.setdefault(secret, len(self._numbers) + 1)
            found.setdefault(number, kind)

        redactor.report = note_secret
        for value in values:
            redactor.value(value)
        return list(found.items())
