"""A search or filter of sessions made ready: what their cards tell, what their texts tell, and what their entries tell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from leafward.query.grammar import Expression, QueryError


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: all of it must hold. Texts are in lower case, patterns as typed."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Any of them."""
    projects: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970; sessions last modified before are left out."""
    problems: tuple[QueryError, ...] = ()
    """Terms that mean nothing as they stand: they are left out, or looked for as words."""
    excluded: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Any of them."""
    parts: tuple[str, ...] = ()
    """Any of them."""
    failed: bool = False
    """Only what failed."""
    cards: Expression | None = None
    """What else a session's card must hold."""
    where: Expression | None = None
    """What else chooses the entries in which something is found."""
    wrong: QueryError | None = None
    """Why nothing can be looked for."""
    now: int = field(default=0, compare=False)
    """When it was asked, in milliseconds since 1970."""

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self.looks_inside or self.narrows or bool(self.excluded)

    @property
    def problem(self) -> str:
        """What is wrong with it, in a line; empty where nothing is."""
        problem = self.broken_part or next(iter(self.problems), None)
        return safe_line(str(problem), 200) if problem is not None else ""

    @property
    def broken_part(self) -> QueryError | None:
        """The first part that means nothing and is left out: what the rest finds is not what was asked for."""
        return self.wrong or next((problem for problem in self.problems if not problem.as_text), None)

    @property
    def broken(self) -> bool:
        """Whether a part of it is left out."""
        return self.broken_part is not None

    @property
    def narrows(self) -> bool:
        """Whether it leaves out sessions by what their cards say."""
        return self.since is not None or bool(self.agents or self.projects) or self.cards is not None

    @property
    def looks_inside(self) -> bool:
        """Whether it asks for anything that only the text of a session tells, or a card's words."""
        return (
            bool(self.words or self.files or self.patterns or self.tools or self.parts or self.failed)
            or self.where is not None
        )

    def among(self, chosen: Expression) -> Query:
        """The same, among the entries that an expression chooses."""
        from leafward.query.grammar import AllOf

        return replace(self, where=chosen if self.where is None else AllOf((self.where, chosen)))
