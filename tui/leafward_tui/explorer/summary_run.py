"""A summary of a branch as a value: of which entries, how far it is, how it is made, and how all that is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.base.safe_text import safe_line
from leafward_tui.ui.cells import count, counted, money, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward.base.config import Config
    from leafward.compaction.branch_summary import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job

__all__ = [
    "MODEL",
    "OFFLINE",
    "Growth",
    "SummaryOffer",
    "SummaryRequest",
    "SummaryRun",
    "branch_words",
    "done_figures",
    "entries_left",
    "look_over",
    "progress_words",
    "redacted_words",
    "sending_words",
    "span_words",
    "summarise",
    "summary_between",
]


OFFLINE, MODEL = "extractive", "model"
"""Names of the summarisers that are offered: ours, and the configured model."""


class SummaryRequest(NamedTuple):
    """Which branch is to be summarised: the entries from `start` up to where its path and that of `to` part."""

    start: int
    to: int
    """-1 is before everything."""
    entries: int
    """Of the conversation."""
    first: int = -1
    """The first of them, right below where the paths part; -1 where there is none."""
    focus: str = ""
    preview: bool = False
    """Whether it is only shown; otherwise the leaf moves with it."""
    carried: bool = True
    """Whether the leaf can move to `to` with it: only what is really left can be carried along."""


def entries_left(session: Session, start: int, to: int) -> int:
    """Entries of the conversation that a move from one entry to another leaves."""
    tree = session.tree
    return tree.content_upto(start) - tree.content_upto(tree.common_ancestor(start, to))


def summary_between(
    session: Session, start: int, to: int, *, preview: bool = False, carried: bool = True
) -> SummaryRequest:
    """A summary of the branch from one entry up to where its path and that of another part."""
    below = session.tree.below(session.tree.common_ancestor(start, to), start)
    first = below[0].start if below else -1
    return SummaryRequest(
        start, to, entries_left(session, start, to), first, preview=preview, carried=carried
    )


@dataclass(slots=True)
class SummaryRun:
    """A summary under way. There is never more than one to a screen."""

    request: SummaryRequest
    stop: Event = field(default_factory=Event)
    growth: Growth | None = None
    asks: bool = False
    """Whether it is asked who summarises, also where there is no choice of model."""
    then: Callable[[BranchDraft | None], object] | None = None
    """What is done with it once it is whole, such as putting it into a new session; None is handed over where there is nothing
    to summarise. Without it the leaf moves with the summary, unless that is only shown."""

    @property
    def moves(self) -> bool:
        """Whether the leaf moves with it."""
        return self.then is None and not self.request.preview


class Growth(NamedTuple):
    """How far it is."""

    text: str
    tokens: int
    rate: float = 0.0
    """Tokens a second; 0 where nothing waits for them."""
    stage: str = ""
    """What is waited for."""

    @property
    def last_line(self) -> str:
        """What was written last."""
        return next((line.strip() for line in reversed(self.text.split("\n")) if line.strip()), "")


def progress_words(run: SummaryRun) -> str:
    """`summarising 31 entries, 512 tok, 40/s`."""
    words = f"summarising {counted(run.request.entries, 'entry', 'entries')}"
    if run.stop.is_set():
        return f"{words}, giving up"
    growth = run.growth
    if growth is None:
        return words
    if not growth.tokens:
        return f"{words}, {safe_line(growth.stage, 200)}" if growth.stage else words
    words += f", {count(growth.tokens)} tok"
    return f"{words}, {growth.rate:,.0f}/s" if growth.rate >= 1 else words


def span_words(request: SummaryRequest, glyphs: Glyphs) -> str:
    """`31 entries  #29 – #341`."""
    first = f"#{request.first} {glyphs.dash} " if 0 <= request.first < request.start else ""
    return f"{counted(request.entries, 'entry', 'entries')}  {first}#{request.start}"


def branch_words(branch: Branch) -> str:
    """What a summary is made from."""
    files = branch.files
    parts = [
        f"{count(branch.tokens)} tokens",
        f"{counted(len(files.read), 'file')} read, {len(files.modified):,} modified",
    ]
    if branch.left_out:
        parts.append(f"the oldest {branch.left_out:,} messages have no room")
    return "   ".join(parts)


def sending_words(outgoing: Outgoing) -> str:
    """`at most $0.04, sends 7.9k tokens`: the price first, because the end may be cut off."""
    dollars = money(outgoing.cost)
    cost = "price unknown" if outgoing.cost is None else f"at most {dollars}".replace("at most <", "below ")
    times = f" in {len(outgoing.requests):,} requests" if len(outgoing.requests) > 1 else ""
    return f"{cost}, sends {count(outgoing.tokens)} tokens{times}"


def redacted_words(redacted: Mapping[str, int]) -> str:
    """`2 secrets are taken out: api key, token`; empty where there are none."""
    total = sum(redacted.values())
    if not total:
        return ""
    are = "is" if total == 1 else "are"
    return f"{counted(total, 'secret')} {are} taken out: {', '.join(sorted(redacted))}"


def done_figures(draft: BranchDraft, glyphs: Glyphs) -> str:
    """`812 tok from 7.3k  11 %   $0.004`."""
    tokens = draft.branch.tokens
    words = f"{count(draft.tokens)} tok from {count(tokens, zero=glyphs.zero)}"
    if tokens:
        words += f"  {percent(draft.tokens, tokens)}"
    cost = draft.summary.cost
    return f"{words}   {money(cost)}" if cost else words


class SummaryOffer(NamedTuple):
    """What is to be summarised, None where there is nothing, and what the configured model would be sent."""

    branch: Branch | None = None
    outgoing: Outgoing | None = None


def look_over(
    session: Session, request: SummaryRequest, config: Config, stop: Event, _job: Job
) -> SummaryOffer:
    """Decodes a branch, and makes the requests for the configured model; nothing leaves the machine.

    Finds nothing where it is stopped. Raises LeafwardError, OSError.
    """
    from leafward.compaction.branch_summary import left_branch
    from leafward.summaries.summarizers.choice import model_settings

    window = config.window_of(config.model)
    try:
        branch = left_branch(
            session, request.start, request.to, window=window, reserve=config.reserve, stop=stop.is_set
        )
    except Cancelled:
        return SummaryOffer()
    if branch is None or config.model is None:
        return SummaryOffer(branch)
    from leafward.summaries.summarizers.model import outgoing

    settings = model_settings(MODEL, config)
    return SummaryOffer(branch, outgoing(branch.span(request.focus), branch.budget(), settings))


def summarise(
    session: Session,
    branch: Branch,
    focus: str,
    name: str,
    config: Config,
    stop: Event,
    grown: Callable[[Growth], object],
    job: Job,
) -> BranchDraft | None:
    """A summary by the summariser of a name, `OFFLINE` or `MODEL`; None where it is stopped. Writes nothing.

    `grown` hears how it grows. Raises LeafwardError, OSError.
    """
    from leafward.session.journal import busy

    try:
        with busy(session.path, "a summary"):
            return _drafted(
                session, branch, focus, name, config, stop, lambda now: job.report(partial(grown, now))
            )
    except Cancelled:
        return None


def _drafted(
    session: Session,
    branch: Branch,
    focus: str,
    name: str,
    config: Config,
    stop: Event,
    grown: Callable[[Growth], object],
) -> BranchDraft:
    from leafward.compaction.branch_summary import summarize_branch
    from leafward.summaries.summarizers import tokens_of
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.extractive import Extractive

    if name == OFFLINE:
        return summarize_branch(
            session,
            branch,
            Extractive(),
            focus=focus,
            progress=lambda text: grown(Growth(text, tokens_of(text))),
            stop=stop.is_set,
        )
    from leafward.summaries.summarizers.model import Model, Progress

    def watch(now: Progress) -> None:
        grown(Growth(now.text, now.tokens, now.rate, now.stage))

    model = Model(model_settings(name, config), watch)
    return summarize_branch(session, branch, model, focus=focus, stop=stop.is_set)
