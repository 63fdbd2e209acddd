"""The options of the verbs about many sessions: `ls`, `search` and `audit`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from leafward.cli.options.option_fields import AgentName, WholeNumber, option, select_field


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowingOptions:
    """The options that leave sessions out."""

    agent: str | None = option(
        "--agent", type=AgentName(), metavar="AGENT", help="Only sessions of this agent."
    )
    project: str | None = option(
        "--project", metavar="TEXT", help="Only sessions whose project folder contains TEXT."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions(NarrowingOptions):
    """The options of `leafward ls`."""

    query: str | None = option(
        "--query",
        metavar="TEXT",
        help="Only sessions that match TEXT: words, file:, since:, project:, agent:.",
    )
    add_up: bool = option("--totals", is_flag=True, help="Totals of tokens and cost instead of sessions.")
    by: str = option(
        "--by",
        type=click.Choice(["project", "agent", "day", "compaction"]),
        default="project",
        show_default=True,
        help="How --totals groups; compaction: what was repeated after them.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(NarrowingOptions):
    """The options of `leafward search`."""

    limit: int = option(
        "--limit",
        type=WholeNumber(1),
        metavar="N",
        default=200,
        show_default=True,
        help="List at most N hits, of the newest sessions.",
    )
    select: str | None = select_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(NarrowingOptions):
    """The options of `leafward audit`."""

    kinds: tuple[str, ...] = option(
        "--kind",
        multiple=True,
        metavar="KIND",
        help="Only secrets of this kind (repeatable); list names all kinds.",
    )
