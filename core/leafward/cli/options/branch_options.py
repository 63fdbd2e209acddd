"""The options of the verbs about branches: `move`, `bisect`, `fork`, `diff`, `edit-context`, `graft`, `merge-summaries`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from leafward.cli.options.option_fields import (
    AgentName,
    NamedPath,
    Seconds,
    WholeNumber,
    base_field,
    base_url_field,
    focus_field,
    model_field,
    onto_field,
    option,
    query_field,
    summary_field,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOptions:
    """The options of `leafward move`."""

    before: bool = option(
        "--before", is_flag=True, help="ENTRY is a prompt: move before it, and print it for you to edit."
    )
    summary: str = summary_field()
    focus: str | None = focus_field()
    model: str | None = model_field()
    base_url: str | None = base_url_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """The options of `leafward bisect`."""

    good: str = option("--good", metavar="ENTRY", required=True, help="An entry where the command passes.")
    bad: str = option(
        "--bad",
        metavar="ENTRY",
        required=True,
        help="A later entry on the same path, where the command fails.",
    )
    base: str | None = option(
        "--base",
        metavar="COMMIT|FOLDER",
        help="The files from before the session, '' for an empty folder"
        " (default: the last commit before it, else the folder as it is now, without the files that the session touched).",
    )
    harmless: tuple[str, ...] = option(
        "--harmless",
        metavar="WORDS",
        multiple=True,
        help="Assume that commands which begin with WORDS change no file, such as `npm run lint`; COMMAND itself is one of them.",
    )
    likely: bool = option(
        "--likely",
        is_flag=True,
        help="Assume that commands change only files that they name, and that files which the session made are new unless a"
        " base has them; the answer is then likely, not certain.",
    )
    timeout: float | None = option(
        "--timeout",
        metavar="SECONDS",
        type=Seconds(),
        help="Most seconds that one run may take.",
    )
    label: str | None = option("--label", metavar="TEXT", help="Label the turn found.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkOptions:
    """The options of `leafward fork`."""

    to: str | None = option(
        "--to",
        type=AgentName(),
        metavar="AGENT",
        help="The agent of the new session: pi, codex, claude or opencode (default: its own).",
    )
    cwd: str | None = option(
        "--cwd",
        metavar="FOLDER",
        help="Work in this folder, which must exist (default: the old session's folder).",
    )
    inject: bool = option("--inject", is_flag=True, help="Add the injected context after what is copied.")
    summary: str = summary_field()
    model: str | None = model_field()
    base_url: str | None = base_url_field()
    run_import: bool = option("--import", is_flag=True, help="Run the agent's own import, if it needs one.")
    run: bool = option(
        "--run",
        is_flag=True,
        help="Continue in the agent at once. Reuses the session of an earlier try if nobody continued it.",
    )
    another: bool = option(
        "--another", is_flag=True, help="With --run or --import: write a second session even then."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """The options of `leafward diff`."""

    what: str = option(
        "--what",
        type=click.Choice(["files", "contents", "context", "summary", "outcome"]),
        default="files",
        show_default=True,
        help="What to compare.",
    )
    files: tuple[str, ...] = option(
        "--file", multiple=True, metavar="PATH", help="Only this file or folder (repeatable)."
    )
    patch: str | None = option(
        "--patch",
        type=click.Choice(["a", "b"]),
        help="What one side changed since the common ancestor, for `git apply`.",
    )
    base: Path | None = base_field()
    form: str | None = option(
        "--format",
        type=click.Choice(["md", "html", "json"]),
        help="The whole comparison as a document: Markdown, one self-contained page, or JSON.",
    )
    output: Path | None = option(
        "-o", "--output", type=NamedPath(path_type=Path), metavar="FILE", help="Write the document to FILE."
    )
    keep_secrets: bool = option(
        "--keep-secrets", is_flag=True, help="Leave keys and tokens in the document as they are."
    )
    redact: bool = option("--redact", is_flag=True, help="Redact keys and tokens in the patch.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditContextOptions:
    """The options of `leafward edit-context`."""

    query: str | None = query_field()
    omit: bool = option("--omit", is_flag=True, help="Leave the entries out.")
    text: str | None = option("--text", metavar="TEXT", help="Let the model read TEXT instead.")
    keep: int | None = option(
        "--keep", type=WholeNumber(1), metavar="N", help="Keep about N tokens, from both ends."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraftOptions:
    """The options of `leafward graft`."""

    query: str | None = query_field()
    onto: str | None = onto_field()
    window: int | None = option(
        "--window", type=WholeNumber(1), metavar="N", help="Most tokens that the context may have."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """The options of `leafward merge-summaries`."""

    onto: str | None = onto_field()
    choices: tuple[str, ...] = option(
        "--choose", multiple=True, metavar="N=SIDE", help="Decide conflict N: a, b, both or base."
    )
    prefer: str | None = option(
        "--prefer", type=click.Choice(["a", "b", "both", "base"]), help="Decide all other conflicts."
    )
    drop_lines: bool = option(
        "--drop-lines", is_flag=True, help="Write even if the lines listed are dropped."
    )
