"""Texts about the summary of a branch: the sheet of summarisers, the requests, the figures in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, percent
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.ui.text.cells import count, estimated_price, money

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.compaction.branch_summary import BranchDraft, LeftBranch
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward_tui.explorer.model.summary_request import SummaryRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs


def summarizer_sheet(
    request: SummaryRequest,
    branch: LeftBranch,
    outgoing: Outgoing | None,
    operation: str,
    glyphs: Glyphs,
    current: str,
) -> ChoiceSheet:
    """Asks for the summariser: `x` extracts, `m` asks the model, `v` shows its requests, `f` asks for a focus first.

    `operation` is the use of the summary in words, `current` the choice of the last time.
    """
    about = [SheetLine(branch_words(branch))]
    choices = [Choice("x", "Extractive", "extracts text locally, no cost", operation, current=current == "x")]
    if outgoing is not None:
        from leafward.summaries.summarizers.model.addresses import host_of

        choices += [
            Choice("m", outgoing.model, sending_words(outgoing), operation, current=current == "m"),
            Choice("v", "Read what would be sent", "every request, word for word"),
        ]
        redacted = redacted_words(outgoing.redacted)
        host = host_of(outgoing.model, outgoing.base_url)
        about.append(SheetLine(f"{outgoing.model} is asked at {host}"))
        about += [SheetLine(redacted, "warn")] if redacted else []
        about += [SheetLine(remark, "warn") for remark in outgoing.remarks]
    if request.preview:
        choices.append(Choice("f", "With a focus", request.focus or "you say what to emphasise"))
    return ChoiceSheet("Summariser", choices, about, note=span_words(request, glyphs))


def requests_sheet(outgoing: Outgoing) -> ReadingSheet:
    """Every request to a model, word for word."""
    parts = []
    for request in outgoing.requests:
        later = ", built from the answers to the others" if request.later else ""
        parts.append(
            f"{request.title}: {request.tokens:,} tokens{later}\n\n{request.system}\n\n{request.prompt}"
        )
    return ReadingSheet(
        f"What {outgoing.model} would be sent",
        "\n\n\n".join(parts),
        note=sending_words(outgoing),
        markdown=False,
    )


def span_words(request: SummaryRequest, glyphs: Glyphs) -> str:
    """`31 messages #29 – #59`; `31 messages among #29 – #341` where others lie between them."""
    first = f"#{request.first:,} {glyphs.dash} " if 0 <= request.first < request.start else ""
    others = first and request.start - request.first + 1 > request.messages
    return f"{counted(request.messages, 'message')} {'among' if others else ''} {first}#{request.start:,}"


def branch_words(branch: LeftBranch) -> str:
    """The material of a summary, in words."""
    parts = [
        f"{count(branch.tokens)} tokens",
        f"{counted(len(branch.read), 'file')} read, {len(branch.modified):,} modified",
    ]
    if branch.left_out:
        parts.append(f"the oldest {branch.left_out:,} messages do not fit")
    return "   ".join(parts)


def sending_words(outgoing: Outgoing) -> str:
    """`about $0.04, sends ~7.9k tokens`: the price first, because the end may be cut off."""
    cost = "price not known" if outgoing.cost is None else estimated_price(outgoing.cost)
    times = f" in {len(outgoing.requests):,} requests" if len(outgoing.requests) > 1 else ""
    return f"{cost}, sends ~{count(outgoing.tokens)} tokens{times}"


def redacted_words(redacted: Mapping[str, int]) -> str:
    """`2 secrets are redacted: api key, token`; empty where there are none."""
    total = sum(redacted.values())
    if not total:
        return ""
    are = "is" if total == 1 else "are"
    return f"{counted(total, 'secret')} {are} redacted: {', '.join(sorted(redacted))}"


def done_figures(draft: BranchDraft, glyphs: Glyphs) -> str:
    """`812 tokens instead of 7.3k  11 %   $0.004`."""
    tokens = draft.branch.tokens
    words = f"{count(draft.tokens)} tokens instead of {count(tokens, zero=glyphs.zero)}"
    if tokens:
        words += f"  {percent(draft.tokens, tokens)}"
    cost = draft.summary.cost
    return f"{words}   {money(cost)}" if cost else words
