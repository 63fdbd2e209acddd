"""The verb `diff`: compares two entries of a session, as JSON; `diff_lines` formats it as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.branches.diff.contents import ContentDifference, SideContents, differs, lines_of
from leafward.branches.diff.contexts import compare_contexts
from leafward.branches.diff.file_sets import BranchFileUse, FileDifference, FileSets, compare_files
from leafward.branches.diff.patches import patch_of, unified
from leafward.branches.diff.sides import Side, Sides, sides
from leafward.branches.diff.summaries import SideSummary, compare_sides
from leafward.cli.output.delivery import deliver
from leafward.cli.output.diff_lines import LINES
from leafward.cli.output.outcomes import compare_outcomes, outcome_json
from leafward.cli.output.page import emit_json, note, page, say, write_text
from leafward.cli.output.rebuilt_json import rebuilt_json
from leafward.cli.selection import opened
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.export.documents.comparison import comparison_of
from leafward.export.documents.comparison_document import document
from leafward.export.documents.content import redactor_for
from leafward.files.file_names import locate
from leafward.files.file_replay.bases import WorkspaceBases
from leafward.files.tool_calls import table_of
from leafward.redaction.redaction import listed, redact
from leafward.session.messages import message_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.cli.options.branch_options import DiffOptions
    from leafward.context.message_columns import ContextMessage
    from leafward.files.file_replay.bases import Bases
    from leafward.session.session import Session


def diff(selector: str, names: tuple[str, ...], options: DiffOptions, as_json: bool) -> int:
    """`leafward diff`."""
    what = options.what
    with opened(selector) as session:
        found_at = [session.find(name) for name in names]
        if len(names) > 2:
            if what != "outcome" or options.patch is not None:
                raise click.UsageError("more than two entries are compared by --what outcome only")
            return compare_outcomes(session, found_at, as_json)
        compared = sides(session, found_at[0], found_at[1])
        bases = _bases(options.base)
        if options.patch is not None:
            return _patch(compared, options, bases, as_json)
        found = _MAKERS[what](compared, options.files, bases)
        if as_json:
            emit_json({"what": what, **_head(compared), **found})
        else:
            say(LINES[what](compared, found, page()))
    return 0


def export(selector: str, ends: tuple[str, str], form: str, options: DiffOptions, as_json: bool) -> int:
    """`leafward diff --format`: everything about two branches, as a document."""
    with opened(selector) as session:
        compared = sides(session, session.find(ends[0]), session.find(ends[1]))
        made = comparison_of(compared, secrets=options.keep_secrets, bases=_bases(options.base))
        facts = {"what": "document", **_head(compared), "format": form} if as_json else None
        size = counted(len(made.data["files"]), "file")
        deliver(document(made, form), options.output, session, made.redactor.found, size, facts)
    return 0


def _bases(folder: Path | None) -> Bases | None:
    """The possible beginnings of files, if the option `--base` names a folder."""
    return WorkspaceBases(folder) if folder is not None else None


def _head(compared: Sides) -> dict[str, Any]:
    session = compared.session
    return {
        "ancestor": session.columns.id_at(compared.ancestor),
        "a": _side(session, compared.a),
        "b": _side(session, compared.b),
    }


def _side(session: Session, side: Side) -> dict[str, Any]:
    return {
        "entry": session.columns.id_at(side.entry),
        "entries": len(side.entries),
        "turns": side.turns,
        "edits": side.edits,
        "tokens": context_at(session, side.entry).total,
    }


def _patch(compared: Sides, options: DiffOptions, bases: Bases | None, as_json: bool) -> int:
    """Writes a patch. It is there to be applied, so secrets stay in it, with a remark, unless they are to be removed."""
    letter, redacted = options.patch, options.redact
    side = compared.a if letter == "a" else compared.b
    made = patch_of(compared, side, bases=bases, wanted=_named_by(compared.session, options.files))
    if options.files and not made.files and not made.left_out:
        raise click.UsageError(f"{letter} changed no file named {', '.join(options.files)}")
    redactor = redactor_for(compared.session)
    plain = redactor.patch(made.text)
    text = plain if redacted else made.text
    named = redact if redacted else str
    secrets = listed(redactor.found)
    remark = (
        f"redacted {secrets}: the patch writes other text there"
        if redacted
        else f"not redacted: the patch has {secrets}; --redact removes them"
    )
    if as_json:
        emit_json(
            {
                "what": "patch",
                **(redactor.value(_head(compared)) if redacted else _head(compared)),
                "side": letter,
                "patch": text,
                "files": [named(path) for path in made.files],
                "left_out": [{"path": named(path), "reason": named(why)} for path, why in made.left_out],
                "taken_as_new": [named(path) for path in made.taken_as_new],
                "ends_unknown": [named(path) for path in made.ends_unknown],
                "redacted": dict(redactor.found) if redacted else {},
                "diagnostics": [{"code": "redacted" if redacted else "not-redacted", "text": remark}]
                if secrets
                else [],
            }
        )
        return 0
    # Into a file or a pipe a patch goes unchanged: escaping what a terminal could act on would break it.
    write_text(text)
    if secrets:
        note(remark)
    for path, why in made.left_out:
        note(f"left out {safe_line(named(path))}: {safe_line(named(why))}")
    if made.ends_unknown:
        note(
            f"line ends of {counted(len(made.ends_unknown), 'file')} are not recorded: the patch uses newlines"
        )
    for path in made.taken_as_new:
        note(f"{safe_line(named(path))} is assumed to be new: `git apply` fails if the file exists")
    return 0


def _use(session: Session, use: BranchFileUse | None) -> dict[str, Any] | None:
    if use is None:
        return None
    return {
        "path": use.path,
        "reads": use.reads,
        "changes": use.changes,
        "added": use.added,
        "removed": use.removed,
        "failed": use.failed,
        "refused": use.refused,
        "unanswered": use.unanswered,
        "last": use.last.value,
        "inferred": use.inferred,
        "entries": [session.columns.id_at(entry) for entry in use.entries],
    }


def _file(session: Session, file: FileDifference, same: bool | None) -> dict[str, Any]:
    return {
        "path": file.path,
        "a": _use(session, file.a),
        "b": _use(session, file.b),
        "shared": file.shared,
        "differs": differs(file, same),
        "flags": [flag.value for flag in file.flags],
        "fates": list(file.fates),
    }


def _named_by(session: Session, named: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a path is that of a named file, or lies in a named folder; each one if none is named."""
    tidy = table_of(session).tidies_paths
    names = tuple(locate(name, session.cwd, tidy=tidy) for name in named)
    return lambda path: not names or any(path == name or path.startswith(f"{name}/") for name in names)


def _chosen(session: Session, sets: FileSets, named: tuple[str, ...]) -> FileSets:
    """The named files and the files in named folders; all files if none is named."""
    wanted = _named_by(session, named)

    def kept(files: tuple[FileDifference, ...]) -> tuple[FileDifference, ...]:
        return tuple(file for file in files if wanted(file.path))

    chosen = FileSets(kept(sets.only_a), kept(sets.both), kept(sets.only_b))
    if named and not len(chosen):
        raise click.UsageError(f"no file of either entry is named {', '.join(named)}")
    return chosen


def _files(compared: Sides, named: tuple[str, ...], bases: Bases | None) -> dict[str, Any]:
    sets = _chosen(compared.session, compare_files(compared), named)
    contents = SideContents(compared, bases=bases)
    return {
        column: [
            _file(compared.session, file, same)
            for file, same in zip(getattr(sets, column), contents.same(getattr(sets, column)), strict=True)
        ]
        for column in ("only_a", "both", "only_b")
    }


def _content(session: Session, file: FileDifference, found: ContentDifference) -> dict[str, Any]:
    return {
        "path": file.path,
        "flags": [flag.value for flag in file.flags],
        "fates": list(file.fates),
        "base": rebuilt_json(session, found.base),
        "a": rebuilt_json(session, found.a),
        "b": rebuilt_json(session, found.b),
        "merge": found.merge.value,
        "sentence": found.sentence,
        "diff": "".join(unified(lines_of(found.a), lines_of(found.b)))
        if found.exact and not found.obstacle
        else None,
        "obstacle": found.obstacle,
    }


def _contents(compared: Sides, named: tuple[str, ...], bases: Bases | None) -> dict[str, Any]:
    sets = _chosen(compared.session, compare_files(compared), named)
    contents = SideContents(compared, bases=bases)
    return {
        column: [
            _content(compared.session, file, contents.of(file))
            for file in getattr(sets, column)
            if named or file.changed
        ]
        for column in ("only_a", "both", "only_b")
    }


def _context(compared: Sides, _named: tuple[str, ...], _bases: Bases | None) -> dict[str, Any]:
    session = compared.session
    found = compare_contexts(session, compared.a.entry, compared.b.entry)

    def message(one: ContextMessage) -> dict[str, Any]:
        return {
            "entry": session.columns.id_at(one.entry),
            "role": one.role,
            "tokens": one.tokens,
            "section": one.section.value,
            "text": safe_line(message_text(message_body(session, one)), 200),
        }

    return {
        "prefix": {"messages": found.prefix, "tokens": found.prefix_tokens},
        "shared_tokens": found.shared_tokens,
        "why": list(found.why),
        "ledger": {name: ledger.as_json() for name, ledger in zip("ab", found.ledgers, strict=True)},
        "only_a": [message(row.a) for row in found.rows if row.a is not None and row.b is None],
        "both": [message(row.a) for row in found.rows if row.a is not None and row.b is not None],
        "only_b": [message(row.b) for row in found.rows if row.b is not None and row.a is None],
    }


def _summary(compared: Sides, _named: tuple[str, ...], _bases: Bases | None) -> dict[str, Any]:
    found = compare_sides(compared)

    def summary_json(summary: SideSummary) -> dict[str, Any]:
        return {"entry": compared.session.columns.id_at(summary.entry), "text": summary.text}

    def fact(one: Any) -> dict[str, Any]:
        return {"kind": one.kind.value, "text": one.text}

    difference = found.difference
    return {
        "summaries": {"a": summary_json(found.a), "b": summary_json(found.b)},
        "sections": [
            {
                "title": section.title,
                "mark": section.mark.value,
                "lines": [
                    {"mark": line.mark.value, "a": line.before, "b": line.after} for line in section.lines
                ],
            }
            for section in difference.sections
        ],
        "only_a": [fact(one) for one in difference.only_before],
        "only_b": [fact(one) for one in difference.only_after],
        "both": [],
    }


def _outcome(compared: Sides, _named: tuple[str, ...], _bases: Bases | None) -> dict[str, Any]:
    return {
        "outcome": {
            "a": outcome_json(compared.session, compared.a),
            "b": outcome_json(compared.session, compared.b),
        },
        "only_a": [],
        "only_b": [],
        "both": [],
    }


_MAKERS = {
    "files": _files,
    "contents": _contents,
    "context": _context,
    "summary": _summary,
    "outcome": _outcome,
}
