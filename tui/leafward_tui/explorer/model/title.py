"""The facts of a session in the title bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name
from leafward.session.columns import MIDWAY
from leafward.session.entries import Kind
from leafward.session.headlines.session_title import title_of
from leafward.session.session import problems_in
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.ui.appearance.glyphs import Glyphs


_PARENT, _PARENT_SHORT = 20, 12
"""Cells of the parent's title; the second number below 100 columns."""
_SUBAGENT = "sub-agent"
_ORIGINS = {"subagent": _SUBAGENT, "inferred": "copy"}


def origin_of(session: Session) -> str:
    """The relation of a session to its parent in a word: a sub-agent, a fork or a copy; empty without a parent."""
    word = _ORIGINS.get(str(session.header.get("relation")), "")
    return word or ("fork" if isinstance(session.header.get("parentSession"), str) else "")


def is_subagent(session: Session) -> bool:
    """Whether a session is that of a sub-agent."""
    return origin_of(session) == _SUBAGENT


class SessionTitle(NamedTuple):
    """Project, name and facts."""

    title: str
    crumb: str
    facts: list[Fact]


def title_bar_of(
    exploration: Exploration,
    agent: str,
    glyphs: Glyphs,
    *,
    following: bool,
    unseen: int,
    shut: bool,
    parent: str,
) -> SessionTitle:
    """The title bar's facts about a session.

    `following`: whether its file is followed; `shut`: whether its file cannot be written to; `unseen`: entries that
    came while the cursor was elsewhere; `parent`: the title of its parent.
    """
    session = exploration.session
    compactions = session.columns.kind.count(Kind.COMPACTION)
    branches = session.branches
    number = session.columns.entries
    entries = "entry" if number == 1 else "entries"
    facts = [
        Fact(agent, short=agent, keep=2),
        Fact(f"{number:,}", entries, f"{number:,} {entries}", keep=4),
        Fact(f"{branches:,}", "branch" if branches == 1 else "branches", "", keep=3 if branches else 0),
        Fact(
            f"{compactions:,}",
            "compaction" if compactions == 1 else "compactions",
            "",
            keep=1 if compactions else 0,
        ),
    ]
    if origin := origin_of(session):
        whole, short = (fit(parent, cells, ellipsis=glyphs.ellipsis) for cells in (_PARENT, _PARENT_SHORT))
        # Whether it can be written to matters more.
        keep = 4 if session.read_only or shut or session.what_if else 7
        of = f"{origin} of " if parent else origin
        facts.insert(0, Fact(f"{of}{whole}", short=f"{of}{short}", keep=keep))
    if damaged := problems_in(session):
        facts.append(Fact(f"{damaged:,}", "damaged", keep=4, hue="bad"))
    if session.columns.begins_midway:
        facts.append(Fact(MIDWAY, short="midway", keep=2))
    if exploration.findings.archived:
        facts.append(Fact(f"{len(exploration.findings.archived):,}", "archived", "", keep=1))
    if unseen:
        facts.append(Fact(f"{unseen:,}", "new below", f"{unseen:,} new below", keep=6, hue="leaf"))
    if session.read_only or shut:
        facts.append(Fact("read only", keep=5, hue="warn"))
    elif session.what_if:
        facts.append(Fact("preview", "leaf", "preview leaf", keep=5, hue="ghost"))
    elif following:
        facts.append(Fact("follows the file", short="follows file", keep=5, hue="leaf"))
    crumb = project_name(session.cwd, 60)
    return SessionTitle(safe_line(title_of(session) or session.path.stem, 200), crumb, facts)
