"""The options of the verbs about compactions and summaries: `plan`, `compact`, `inject`, `summarize`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from leafward.base.strategies import Strategy
from leafward.cli.options.option_fields import (
    FOLDER,
    WholeNumber,
    at_field,
    base_url_field,
    focus_field,
    model_field,
    option,
)

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """The options that say which compaction is meant."""

    at: str | None = at_field()
    strategy: str | None = option(
        "--strategy",
        type=click.Choice([*(one.value for one in Strategy), "all"]),
        help="Whose rules to follow (default: as configured, else the session's own agent's; pi's if those are not known, as for "
        "Claude Code).",
    )
    keep_recent: int | None = option(
        "--keep-recent", type=WholeNumber(0), metavar="N", help="Tokens to keep as they are."
    )
    reserve: int | None = option(
        "--reserve", type=WholeNumber(0), metavar="N", help="Tokens of the window left for the reply."
    )
    window: int | None = option(
        "--window", type=WholeNumber(1), metavar="N", help="The model's context window, in tokens."
    )
    trigger: str = option(
        "--trigger",
        type=click.Choice(["fixed", "proportional"]),
        default="fixed",
        help="Leave the reserve free, or 16 % of the window.",
    )
    cut: str | None = option("--cut", metavar="ENTRY", help="Keep from ENTRY on, whatever the budget says.")
    by_script: bool = option(
        "--by-script",
        is_flag=True,
        help="Estimate tokens by writing system (Latin, Chinese), not as the agent does.",
    )
    behaviour: str | None = option(
        "--behaviour", metavar="VERSION", help="Follow this version of the strategy's agent."
    )
    as_is: bool = option("--as-is", is_flag=True, help="Reproduce the agent's known bugs.")
    no_prune: bool = option("--no-prune", is_flag=True, help="Skip opencode's pruning of old results.")
    model: str | None = model_field()
    base_url: str | None = base_url_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOptions(PlanOptions):
    """The options of `leafward compact`: the compaction, and the contents of its summary."""

    max_tokens: int | None = option(
        "--max-tokens", type=WholeNumber(1), metavar="N", help="Most tokens that the stored text may have."
    )
    pins: tuple[str, ...] = option(
        "--pin",
        multiple=True,
        metavar="TEXT",
        help="Put TEXT into the summary word for word; for a bare name, the sentence that has it (repeatable).",
    )
    focus: str | None = focus_field()
    inject: bool = option("--inject", is_flag=True, help="Add the injected context (see `leafward inject`).")
    repair: str | None = option(
        "--repair", metavar="ENTRY", help="Correct this compaction: same place, cut and summary, pins added."
    )
    larger: bool = option("--larger", is_flag=True, help="Compact even if that makes the context larger.")
    pin_lost: bool = option(
        "--pin-lost", is_flag=True, help="Pin the rules and unfinished steps that would be lost."
    )
    accept_loss: bool = option(
        "--accept-loss", is_flag=True, help="Compact even if rules and unfinished steps are lost."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectOptions:
    """The options of `leafward inject`."""

    at: str | None = at_field()
    workspace: Path | None = option(
        "--workspace",
        type=FOLDER,
        metavar="DIR",
        help="The folder to read (default: the session's own, if it exists).",
    )
    budget: int | None = option(
        "--budget",
        type=WholeNumber(0),
        metavar="CHARS",
        help="Most characters of the whole text (default: 8000).",
    )
    order: str | None = option(
        "--order",
        type=click.Choice(["recent", "alpha"]),
        help="Which files are kept if there are too many (default: recent).",
    )
    now: str | None = option(
        "--now", metavar="TIME", help="Measure freshness against this time (default: ENTRY's)."
    )
    off: tuple[str, ...] = option(
        "--off",
        multiple=True,
        metavar="SECTION",
        help="Leave out a section, such as stage.next_action, or a group: gov, stage, workingset, rules.",
    )
    pins: tuple[str, ...] = option("--pin", multiple=True, metavar="TEXT", help="Include TEXT word for word.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """The options of `leafward summarize`."""

    start: str = option(
        "--from", default="leaf", show_default=True, metavar="ENTRY", help="The end of the abandoned branch."
    )
    to: str = option("--to", required=True, metavar="ENTRY", help="Where the conversation would continue.")
    focus: str | None = focus_field()
    max_tokens: int | None = option(
        "--max-tokens", type=WholeNumber(1), metavar="N", help="Most tokens that the text may have."
    )
    model: str | None = model_field()
    base_url: str | None = base_url_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamOptions:
    """The options of `leafward exam`."""

    against: str | None = option(
        "--against", metavar="COMPACTION", help="Compare with another compaction of the session."
    )
    model: str | None = model_field("Let this model answer the questions.")
    base_url: str | None = base_url_field()
