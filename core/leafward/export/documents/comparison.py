"""Two branches compared, as the values that a document shows. Texts are safe and redacted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leafward.base.errors import Cancelled
from leafward.branches.diff.contents import SideContents, differs, is_same
from leafward.branches.diff.contents import lines_of as content_lines
from leafward.branches.diff.contexts import compare_contexts
from leafward.branches.diff.file_sets import compare_files
from leafward.branches.diff.patches import unified
from leafward.branches.diff.summaries import compare_sides
from leafward.export.documents.content import SafeTexts, brief, redactor_for
from leafward.redaction.redaction import Redactor
from leafward.session.entries import EntryIndex
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.branches.diff.contents import ContentDifference
    from leafward.branches.diff.contexts import ContextDifference
    from leafward.branches.diff.file_sets import BranchFileUse, FileDifference
    from leafward.branches.diff.sides import Side, Sides
    from leafward.files.file_replay.bases import Bases
    from leafward.files.file_replay.replay import Rebuilt

COLUMNS = {"only_a": "Only in A", "both": "In both", "only_b": "Only in B"}


@dataclass(slots=True)
class Comparison:
    """The content of a document about two branches; every text in it is safe to hand on."""

    title: str
    data: dict[str, Any]
    """The content of the JSON form."""
    redactor: Redactor


class _Texts(SafeTexts):
    """Also the names of entries."""

    def name(self, index: int) -> str | None:
        """An entry's id, as `line`; None before everything."""
        return self.line(self.session.columns.id(EntryIndex(index)))[:64] if index >= 0 else None


def comparison_of(
    sides: Sides,
    *,
    secrets: bool = False,
    bases: Bases | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Comparison:
    """Computes the content of a document. Secrets stay where `secrets`; `bases` as in `SideContents`.

    Raises Cancelled once `stop` turns true.
    """
    session = sides.session
    texts = _Texts(session, secrets, Redactor() if secrets else redactor_for(session))
    contexts = compare_contexts(session, sides.a.entry, sides.b.entry)
    files, contents = _files(texts, sides, bases, stop)
    summaries = compare_sides(sides, stop=stop)
    ancestor = headline(session, sides.ancestor).text if sides.ancestor >= 0 else ""
    if ancestor and not texts.secrets:
        ancestor = brief(session, sides.ancestor, ancestor, texts.redactor.named)
    data = {
        "session": texts.line(session.id),
        "project": texts.line(session.cwd),
        "ancestor": texts.name(sides.ancestor),
        "ancestor_text": texts.line(ancestor),
        "a": _side(texts, sides.a, contexts.a.total),
        "b": _side(texts, sides.b, contexts.b.total),
        "files": files,
        "contents": contents,
        "context": _context(contexts),
        "summary": [
            {
                "title": texts.line(section.title),
                "lines": [
                    {"mark": line.mark.value, "a": texts.line(line.before), "b": texts.line(line.after)}
                    for line in section.lines
                ],
            }
            for section in summaries.difference.sections
        ],
    }
    title = texts.line(session.name or session.id)
    return Comparison(title, data, texts.redactor)


def _files(
    texts: _Texts, sides: Sides, bases: Bases | None, stop: Callable[[], bool]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The files of both branches, and the contents of those that were changed."""
    sets, contents = compare_files(sides), SideContents(sides, stop, bases)
    files, differences = [], []
    for column in COLUMNS:
        for file in getattr(sets, column):
            if stop():
                raise Cancelled
            found = contents.of(file) if file.changed else None
            same = is_same(found.a, found.b) if found is not None else contents.same([file])[0]
            files.append({"column": column, **_file(texts, file, differs(file, same))})
            if found is not None:
                differences.append(_content(texts, found))
    return files, differences


def _context(contexts: ContextDifference) -> dict[str, Any]:
    return {
        "prefix": {"messages": contexts.prefix, "tokens": contexts.prefix_tokens},
        "shared_tokens": contexts.shared_tokens,
        "why": list(contexts.why),
        "ledger": {letter: ledger.as_json() for letter, ledger in zip("ab", contexts.ledgers, strict=True)},
    }


def _side(texts: _Texts, side: Side, tokens: int) -> dict[str, Any]:
    came = side.outcomes
    return {
        "entry": texts.name(side.entry),
        "entries": len(side.entries),
        "turns": side.turns,
        "edits": side.edits,
        "tokens": tokens,
        "spent": came.usage.total,
        "checks": [one.as_json() for one in came.checks],
        "commands": came.commands,
        "failed_commands": came.failed_commands,
        "errors": came.errors,
        "calls": came.calls,
        "aborted": came.aborted,
        "cost": came.usage.cost if came.costs_known else None,
        "seconds": came.seconds,
        "last_words": texts.line(came.last_words),
    }


def _use(use: BranchFileUse | None) -> dict[str, Any] | None:
    if use is None:
        return None
    return {"reads": use.reads, "changes": use.changes, "added": use.added, "removed": use.removed}


def _file(texts: _Texts, file: FileDifference, different: bool | None) -> dict[str, Any]:
    return {
        "path": texts.line(file.path),
        "differs": different,
        "flags": [flag.value for flag in file.flags],
        "fates": list(file.fates),
        "a": _use(file.a),
        "b": _use(file.b),
    }


def _content(texts: _Texts, found: ContentDifference) -> dict[str, Any]:
    text = ""
    if found.exact and not found.obstacle:
        text = texts.text("".join(unified(content_lines(found.a), content_lines(found.b))))
    return {
        "path": texts.line(found.path),
        "a": _rests(found.a),
        "b": _rests(found.b),
        "base": _rests(found.base),
        "merge": found.merge.value,
        "sentence": found.obstacle or found.sentence,
        "diff": text,
    }


def _rests(file: Rebuilt) -> dict[str, Any]:
    return {
        "certainty": file.certainty.value,
        "base": file.base,
        "every_branch": file.every_branch,
        "ends_known": file.ends,
        "remarks": sorted({what.value for _, what in file.remarks}),
    }
