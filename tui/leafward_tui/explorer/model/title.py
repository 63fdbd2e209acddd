"""What the title bar says of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.session.entries import Kind
from leafward.session.session_title import title_of
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from leafward_tui.explorer.model.exploration import Exploration


class SessionTitle(NamedTuple):
    """Project, name and facts."""

    title: str
    crumb: str
    facts: list[Fact]


def title_bar_of(
    exploration: Exploration, agent: str, *, following: bool, unseen: int, dot: str
) -> SessionTitle:
    """What the title bar shows of a session; `following` says whether it is followed as it grows, `dot` is the sign for that.

    `unseen` counts what came while the cursor was elsewhere.
    """
    session = exploration.session
    compactions = session.columns.kind.count(Kind.COMPACTION)
    branches = session.branches
    entries = "entry" if len(session) == 1 else "entries"
    facts = [
        Fact(agent, short=agent, keep=2),
        Fact(f"{len(session):,}", entries, f"{len(session):,} {entries}", keep=4),
        Fact(f"{branches:,}", "branch" if branches == 1 else "branches", "", keep=3 if branches else 0),
        Fact(
            f"{compactions:,}",
            "compaction" if compactions == 1 else "compactions",
            "",
            keep=1 if compactions else 0,
        ),
    ]
    if damaged := session.columns.damaged:
        facts.append(Fact(f"{damaged:,}", "problem" if damaged == 1 else "problems", keep=4, hue="bad"))
    if exploration.findings.archived:
        facts.append(Fact(f"{len(exploration.findings.archived):,}", "archived", "", keep=1))
    if unseen:
        facts.append(Fact(f"{unseen:,}", "new below", f"{unseen:,} new below", keep=6, hue="leaf"))
    if session.read_only:
        facts.append(Fact("read only", keep=5, hue="warn"))
    elif session.what_if:
        facts.append(Fact("preview", "leaf", "preview leaf", keep=5, hue="ghost"))
    elif following:
        facts.append(Fact(f"{dot} following", short=dot, keep=5, hue="leaf"))
    crumb = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 60)
    return SessionTitle(safe_line(title_of(session) or session.path.stem, 200), crumb, facts)
