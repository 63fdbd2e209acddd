"""The verbs about compactions: plans, summaries, survival, exams, and the injected context with its installation into agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from leafward.cli.declarations.command import dry_run_option, json_option, leafward, session_argument, verb
from leafward.cli.options.option_fields import FOLDER, AgentName

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.cli.options.compaction_options import (
        CompactOptions,
        ExamOptions,
        InjectOptions,
        PlanOptions,
        SummarizeOptions,
    )


_agent_argument = click.argument("agent", type=AgentName())


@verb(
    "leafward plan 019f3c",
    "leafward plan 019f3c --strategy all --window 128000 --json",
    options="compaction_options.PlanOptions",
)
@session_argument
@json_option
def plan(session: str, options: PlanOptions, as_json: bool) -> int:
    """Show what a compaction would do.

    Shows what would be summarised, kept and cut short, where the path may be cut and where not, and why. Nothing is
    written and no model is asked. With --json, also what would be injected, and what would be sent to a model.
    """
    from leafward.cli.verbs.plan import plan as run

    return run(session, options, as_json)


@verb(
    "leafward compact 019f3c --dry-run",
    "leafward compact 019f3c --pin 'never push to main' --inject",
    "leafward compact 019f3c --strategy all --dry-run --json",
    options="compaction_options.CompactOptions",
)
@session_argument
@dry_run_option
@json_option
def compact(session: str, options: CompactOptions, dry_run: bool, as_json: bool) -> int:
    """Compact the context of a session.

    Appends one entry with a summary that replaces what it covers; pi reads it. Without a model, the summary is made
    on this machine; with a model, the size and the price of the request are printed first. With --at, the leaf moves to
    that entry. `leafward undo` undoes it.
    """
    from leafward.cli.verbs.compact import compact as run

    return run(session, options, dry_run, as_json)


@verb(
    "leafward inject 019f3c",
    "leafward inject 019f3c --budget 2000 --off stage --pin 'never push' --json",
    options="compaction_options.InjectOptions",
)
@session_argument
@json_option
def inject(session: str, options: InjectOptions, as_json: bool) -> int:
    """Print the context that a compaction carries beside its summary.

    Files of the path, governance, the state of the work, rules in force and pins, each line with its sources,
    within a budget. Prints exactly what would be sent. The workspace is only read.
    """
    from leafward.cli.verbs.inject import inject_verb as run

    return run(session, options, as_json)


@verb("leafward survival 019f3c", "leafward survival 019f3c 3197c85b --json")
@session_argument
@click.argument("compaction", required=False)
@click.option(
    "--workspace",
    type=FOLDER,
    metavar="DIR",
    help="The folder with rules and governance (default: the session's own, if it exists).",
)
@json_option
def survival(session: str, compaction: str | None, workspace: Path | None, as_json: bool) -> int:
    """Show which facts survived a compaction.

    Facts are paths, commands, numbers, errors, identifiers, URLs, constraints, decisions and open todos of what the
    compaction replaced. Each is in the summary (word for word or paraphrased), injected, kept, lost or contradicted.
    Also listed: what the summary invented, the rules that matched before and no longer match, and which governance
    and workflow the summary has. Without COMPACTION, the last one on the path to the leaf.
    """
    from leafward.cli.verbs.survival import survival as run

    return run(session, compaction, workspace, as_json)


@verb(
    "leafward exam 019f3c",
    "leafward exam 019f3c 3197c85b --against 1a2b3c4d --json",
    "leafward exam 019f3c --model anthropic/claude-haiku-4-5 --dry-run",
    options="compaction_options.ExamOptions",
)
@session_argument
@click.argument("compaction", required=False)
@click.option("--dry-run", is_flag=True, help="Show what would be sent; send nothing.")
@json_option
def exam(session: str, compaction: str | None, options: ExamOptions, dry_run: bool, as_json: bool) -> int:
    """Ask what a model would still know after a compaction.

    Makes multiple-choice questions about what was replaced: which file was changed last, which one defines a name,
    which command ran the tests and what it printed, what failed, which commit was made last, which rules the user
    set, what was decided against or not allowed, what was said last, which step is not done. For each, it says where
    the right answer is afterwards: in the summary, injected, kept or nowhere. Without COMPACTION, the last one on the
    path to the leaf.

    With --model, that model answers. It is sent what it would see after the compaction; you see the size and the
    price first. Its answers are graded and kept in the session. With --dry-run, nothing is sent.
    """
    from leafward.cli.verbs.exam import exam as run

    return run(session, compaction, options, dry_run, as_json)


@verb(
    "leafward summarize 019f3c --from leaf --to 1a2b3c4d",
    "leafward summarize 019f3c --from leaf --to root --focus 'what was measured' --json",
    options="compaction_options.SummarizeOptions",
)
@session_argument
@json_option
def summarize(session: str, options: SummarizeOptions, as_json: bool) -> int:
    """Summarise the branch between two entries.

    The summary covers the path up from --from, as far as the entry where it leaves the path to --to. Nothing is
    written; `leafward move --summary` adds such a summary when it moves.
    """
    from leafward.cli.verbs.summarize import summarize as run

    return run(session, options, as_json)


@verb("leafward install claude --dry-run", "leafward install pi --summary")
@_agent_argument
@click.option("--summary", is_flag=True, help="Also make its summaries, without a model (pi only).")
@dry_run_option
@json_option
def install(agent: str, summary: bool, dry_run: bool, as_json: bool) -> int:
    """Add the injected context to an agent's own compactions.

    Changes or creates one file of the agent and shows the change; the rest of the file stays as it is. From its
    next start, AGENT (pi, claude, codex or opencode) runs Leafward at each compaction, and the model sees once what
    `leafward inject` prints. If that fails, the agent continues without it, and `leafward doctor` says why.
    """
    from leafward.cli.verbs.install import install as run

    return run(agent, summary, dry_run, as_json)


@verb("leafward uninstall claude --dry-run", "leafward uninstall pi")
@_agent_argument
@dry_run_option
@json_option
def uninstall(agent: str, dry_run: bool, as_json: bool) -> int:
    """Remove what `install` added to an agent.

    Restores the file byte for byte. If the file was changed meanwhile, only Leafward's part is removed.
    """
    from leafward.cli.verbs.install import uninstall as run

    return run(agent, dry_run, as_json)


@leafward.command("hook", hidden=True)
@click.argument("agent")
@click.option("--prepare", metavar="SESSION")
@click.option("--size", type=int, metavar="BYTES")
@click.option("--began", type=int, metavar="MILLISECONDS")
@click.option("--compaction", default="", metavar="ID")
def hook(agent: str, prepare: str | None, size: int | None, began: int | None, compaction: str) -> int:
    """Answer an agent that runs what `install` put there."""
    from leafward.cli.verbs.hook import hook as run

    return run(agent, prepare, size, began, compaction)
