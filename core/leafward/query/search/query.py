"""A search or filter of sessions, prepared as conditions on their cards, their texts and their entries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from leafward.query.grammar import Expression
    from leafward.query.lexer import QueryError


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: all of its parts must hold. Texts are in lower case, patterns as typed."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Any of these is enough."""
    projects: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970; sessions last modified before are left out."""
    problems: tuple[QueryError, ...] = ()
    """Terms without a meaning as they stand: they are left out, or searched as words."""
    excluded: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Any of these is enough."""
    parts: tuple[str, ...] = ()
    """Any of these is enough."""
    failed: bool = False
    """Whether it asks only for failed calls, replies and commands."""
    cards: Expression | None = None
    """Further conditions on a session's card."""
    where: Expression | None = None
    """Further conditions on the entries of a hit."""
    wrong: QueryError | None = None
    """The error that prevents the search."""
    now: int = field(default=0, compare=False)
    """The time of the query, in milliseconds since 1970."""

    def __bool__(self) -> bool:
        """Whether the query asks for anything."""
        return self.looks_inside or self.narrows or bool(self.excluded)

    @property
    def problem(self) -> str:
        """The error in the query, in a line; empty where it has none."""
        problem = self.broken_part or next(iter(self.problems), None)
        return safe_line(str(problem), 200) if problem is not None else ""

    @property
    def broken_part(self) -> QueryError | None:
        """The first part that is left out as meaningless: the rest finds something else than the user asked for; None where none is."""
        return self.wrong or next((problem for problem in self.problems if not problem.as_text), None)

    @property
    def broken(self) -> bool:
        """Whether a part of the query is left out."""
        return self.broken_part is not None

    @property
    def narrows(self) -> bool:
        """Whether it excludes sessions by their cards."""
        return self.since is not None or bool(self.agents or self.projects) or self.cards is not None

    @property
    def looks_inside(self) -> bool:
        """Whether it needs the text of a session, or the words of a card."""
        return (
            bool(self.words or self.files or self.patterns or self.tools or self.parts or self.failed)
            or self.where is not None
        )

    def among(self, chosen: Expression) -> Query:
        """The same query, limited to the entries that an expression chooses."""
        from leafward.query.grammar import AllOf

        return replace(self, where=chosen if self.where is None else AllOf((self.where, chosen)))
