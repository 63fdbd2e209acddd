"""The verbs about a model's memory: compactions, injected context, survival, summaries of branches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leafward.cli.declarations.command import dry_run_option, json_option, leafward, session_argument, verb

if TYPE_CHECKING:
    from leafward.cli.declarations.compaction_options import (
        CompactOptions,
        ExamOptions,
        InjectOptions,
        PlanOptions,
        SummarizeOptions,
    )


@verb(
    "leafward plan 019f3c",
    "leafward plan 019f3c --strategy all --window 128000 --json",
    options="compaction_options.PlanOptions",
)
@session_argument
@json_option
def plan(session: str, options: PlanOptions, as_json: bool) -> int:
    """Show what a compaction would do.

    What would be summarised, kept and cut short, where the path may be cut and where not, and why; nothing is written
    and no model is asked. With --json also what would be injected, and what would be sent to a model.
    """
    from leafward.cli.plan import plan as run

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

    The plan is carried out: a summary takes the place of what it covers, and one entry is appended that pi reads.
    Without a model it is made on this machine. What goes to a model is said first. At another entry than the leaf the
    leaf moves there. `leafward undo` goes back before it.
    """
    from leafward.cli.compact import compact as run

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

    Files of the path, governance, where the work stands, rules in force and pins, each line with its sources, within a
    budget. What is printed is what is sent. The workspace is only read.
    """
    from leafward.cli.inject import inject_verb as run

    return run(session, options, as_json)


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
    before and do not match after, and what of governance and workflow the summary holds. Without COMPACTION the last one on
    the path to the leaf.
    """
    from leafward.cli.survival import survival as run

    return run(session, compaction, workspace, as_json)


@verb(
    "leafward exam 019f3c",
    "leafward exam 019f3c 3197c85b --against 1a2b3c4d --json",
    "leafward exam 019f3c --model anthropic/claude-haiku-4-5 --dry-run",
    options="compaction_options.ExamOptions",
)
@session_argument
@click.argument("compaction", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be sent; send nothing.")
@json_option
def exam(session: str, compaction: str | None, options: ExamOptions, dry_run: bool, as_json: bool) -> int:
    """Ask what a model would still know after a compaction.

    Questions with one right answer and wrong ones of the same span: which file was changed last, which command runs the
    tests and what it printed, what the user demanded, what was decided against, which step is not done. Each says where
    the right answer stands afterwards: in the summary, injected, kept or nowhere. Without COMPACTION the last one on the
    path to the leaf.

    With --model that model answers: what it would see after the compaction is sent to it, and is said first; its answers
    are graded and kept in the session. With --dry-run nothing is sent.
    """
    from leafward.cli.exam import exam as run

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

    The summary covers the entries above the first one, up to where its path leaves that of the other. Nothing is written;
    `leafward move --summary` carries such a summary along.
    """
    from leafward.cli.summarize import summarize as run

    return run(session, options, as_json)


@verb("leafward install claude --dry-run", "leafward install pi --summary")
@click.argument("agent")
@click.option("--summary", is_flag=True, help="Make its summaries as well, without a model (pi).")
@dry_run_option
@json_option
def install(agent: str, summary: bool, dry_run: bool, as_json: bool) -> int:
    """Let an agent carry the injected context over its own compactions.

    One file of the agent is changed or made, and what changes is shown; every other byte of it stays. After its next
    start AGENT (pi, claude, codex or opencode) runs Leafward at each compaction, and the model sees once what `leafward inject`
    prints. Where that fails the agent goes on without it, and `leafward doctor` says why.
    """
    from leafward.cli.install import install as run

    return run(agent, summary, dry_run, as_json)


@verb("leafward uninstall claude --dry-run", "leafward uninstall pi")
@click.argument("agent")
@dry_run_option
@json_option
def uninstall(agent: str, dry_run: bool, as_json: bool) -> int:
    """Take back what `install` put into an agent.

    The file is as it was before, byte for byte. One that was changed meanwhile loses our part only.
    """
    from leafward.cli.install import uninstall as run

    return run(agent, dry_run, as_json)


@leafward.command("hook", hidden=True)
@click.argument("agent")
@click.option("--prepare", metavar="SESSION")
@click.option("--size", type=int, metavar="BYTES")
def hook(agent: str, prepare: str | None, size: int | None) -> int:
    """Answer an agent that runs what `install` put there."""
    from leafward.cli.hook import hook as run

    return run(agent, prepare, size)
