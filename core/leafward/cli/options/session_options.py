"""The options of the verbs about the files and the text of one session: `files`, `restore` and `export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from leafward.cli.options.option_fields import NamedPath, at_field, base_field, option, select_field


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesOptions:
    """The options of `leafward files`."""

    at: str | None = at_field()
    timeline: str | None = option(
        "--timeline", metavar="PATH", help="Every step that touched a file, across all branches."
    )
    rebuild: str | None = option("--rebuild", metavar="PATH", help="A file as the recorded calls left it.")
    into: Path | None = option(
        "--into",
        type=NamedPath(path_type=Path),
        metavar="DIR",
        help="Write the files as they were into DIR, which must be empty or new.",
    )
    base: Path | None = base_field()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions:
    """The options of `leafward restore`."""

    diff: bool = option("--diff", is_flag=True, help="Show what changes in each file.")
    overwrite: bool = option(
        "--overwrite",
        is_flag=True,
        help="Also write the named files that were changed since; shows their diff first.",
    )
    cwd: str | None = option(
        "--cwd",
        metavar="FOLDER",
        help="Write the files in this folder, which must exist (default: the session's).",
    )
    undo: bool = option("--undo", is_flag=True, help="Put back the files from before the last restore.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options of `leafward export`."""

    form: str = option(
        "--format",
        type=click.Choice(["md", "html", "json"]),
        default="md",
        show_default=True,
        help="Markdown, one self-contained page, or the entries as JSON.",
    )
    at: str | None = at_field()
    every_branch: bool = option("--all", is_flag=True, help="Every branch instead of the path to the entry.")
    select: str | None = select_field()
    output: Path | None = option(
        "-o",
        "--output",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Write to FILE instead of stdout.",
    )
    keep_secrets: bool = option("--keep-secrets", is_flag=True, help="Leave keys and tokens as they are.")
