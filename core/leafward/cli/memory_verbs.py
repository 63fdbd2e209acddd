"""The verbs about what a model keeps in mind: compactions, what is injected, what survives, summaries of branches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leafward.cli.command import at_option, dry_run_option, json_option, model_options, session_argument, verb

if TYPE_CHECKING:
    from collections.abc import Callable


def _plan_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say which compaction is meant."""
    options = (
        at_option,
        click.option(
            "--strategy",
            type=click.Choice(["pi", "codex", "opencode", "all"]),
            help="Whose rules to follow (default: as configured, else the session's own agent's).",
        ),
        click.option(
            "--keep-recent", type=click.IntRange(0), metavar="N", help="Tokens to keep as they are."
        ),
        click.option(
            "--reserve", type=click.IntRange(0), metavar="N", help="Tokens of the window left for the reply."
        ),
        click.option(
            "--window", type=click.IntRange(1), metavar="N", help="The model's context window, in tokens."
        ),
        click.option(
            "--trigger",
            type=click.Choice(["fixed", "proportional"]),
            default="fixed",
            help="Leave the reserve free, or 16 % of the window.",
        ),
        click.option("--cut", metavar="ENTRY", help="Keep from ENTRY on, whatever the budget says."),
        click.option("--by-script", is_flag=True, help="Estimate tokens by script, not as the agent does."),
        click.option("--behaviour", metavar="VERSION", help="As that version of the strategy's agent did."),
        click.option("--as-is", is_flag=True, help="With the known faults of the agent itself."),
        click.option("--no-prune", is_flag=True, help="Without opencode's pruning of old results."),
        model_options,
    )
    for option in reversed(options):
        function = option(function)
    return function


@verb("leafward plan 019f3c", "leafward plan 019f3c --strategy all --window 128000 --json")
@session_argument
@_plan_options
@json_option
def plan(session: str, as_json: bool, **asked: Any) -> int:
    """Show what a compaction would do.

    What would be summarised, kept and cut short, where the path may be cut and where not, and why; nothing is written
    and no model is asked. With --json also what would be injected, and what would be sent to a model.
    """
    from leafward.cli.plan import plan as run

    return run(session, asked, as_json)


@verb(
    "leafward compact 019f3c --dry-run",
    "leafward compact 019f3c --pin 'never push to main' --inject",
    "leafward compact 019f3c --strategy all --dry-run --json",
)
@session_argument
@_plan_options
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="Tokens that the stored text may take."
)
@click.option(
    "--pin",
    "pins",
    multiple=True,
    metavar="TEXT",
    help="Put TEXT into the summary, word for word (repeatable).",
)
@click.option("--focus", metavar="TEXT", help="What the summary is to dwell on.")
@click.option("--inject", is_flag=True, help="Enclose the injected context (see `leafward inject`).")
@click.option(
    "--repair", metavar="ENTRY", help="Correct that compaction: same place, cut and summary, pins added."
)
@click.option("--larger", is_flag=True, help="Compact even where that makes the context larger.")
@dry_run_option
@json_option
def compact(session: str, as_json: bool, **asked: Any) -> int:
    """Compact the context of a session.

    The plan is carried out: a summary takes the place of what it covers, and one entry is appended that pi reads.
    Without a model it is made on this machine. What goes to a model is said first. At another entry than the leaf the
    leaf moves there. `leafward undo` goes back before it.
    """
    from leafward.cli.compact import compact as run

    return run(session, asked, as_json)


@verb("leafward inject 019f3c", "leafward inject 019f3c --budget 2000 --off stage --pin 'never push' --json")
@session_argument
@at_option
@click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder to read (default: the session's own, if it exists).",
)
@click.option(
    "--budget", type=click.IntRange(0), metavar="CHARS", help="Characters of the whole text (default: 8000)."
)
@click.option(
    "--order",
    type=click.Choice(["recent", "alpha"]),
    help="How files are chosen where there are too many (default: recent).",
)
@click.option("--now", metavar="TIME", help="The time that freshness is measured against (default: ENTRY's).")
@click.option(
    "--off", multiple=True, metavar="SECTION", help="Without this section, or all below it (gov, stage)."
)
@click.option("--pin", "pins", multiple=True, metavar="TEXT", help="Carry TEXT on, word for word.")
@json_option
def inject(session: str, as_json: bool, **asked: Any) -> int:
    """Print the context that a compaction carries beside its summary.

    Files of the path, governance, where the work stands, rules in force and pins, each line with its sources, within a
    budget. What is printed is what is sent. The workspace is only read.
    """
    from leafward.cli.inject import inject_verb as run

    return run(session, asked, as_json)


@verb("leafward survival 019f3c", "leafward survival 019f3c 3197c85b --json")
@session_argument
@click.argument("compaction", required=False)
@click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder with rules and governance (default: the session's own, if it exists).",
)
@json_option
def survival(session: str, compaction: str | None, workspace: Path | None, as_json: bool) -> int:
    """Show what a compaction made of the facts it replaced.

    Paths, commands, numbers, errors, identifiers, URLs, constraints, decisions and open todos: in the summary word for
    word or paraphrased, injected, kept, lost, contradicted; and what the summary invented. Then the rules that matched
    before and do not match after, and how the summary has governance and workflow. Without COMPACTION the last one on
    the path to the leaf.
    """
    from leafward.cli.survival import survival as run

    return run(session, compaction, workspace, as_json)


@verb(
    "leafward summarize 019f3c --from leaf --to 1a2b3c4d",
    "leafward summarize 019f3c --from leaf --to root --focus 'what was measured' --json",
)
@session_argument
@click.option(
    "--from",
    "start",
    default="leaf",
    show_default=True,
    metavar="ENTRY",
    help="The end of the branch that is left.",
)
@click.option("--to", required=True, metavar="ENTRY", help="Where the conversation would go on.")
@click.option("--focus", metavar="TEXT", help="What the summary is to dwell on.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Tokens that the text may take.")
@model_options
@json_option
def summarize(session: str, as_json: bool, **asked: Any) -> int:
    """Summarise the branch between two entries.

    What is told are the entries from the first one up to where its path and that of the other part. Nothing is written;
    `leafward move --summary` carries such a summary along.
    """
    from leafward.cli.summarize import summarize as run

    return run(session, asked, as_json)
