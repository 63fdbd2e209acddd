"""Files and names in few lines: the work on a file and the names written into it, all other files together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.files.shell.writes import may_change
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.forms import file_lists, forms
from leafward.summaries.facts.values import Fact, FactKind
from leafward.summaries.summarizers.extractive.candidates import Evidence, FileWork, LineCandidate
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, harmless

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BARE = re.compile(r"` changed( \d+×)?(?:, (.{1,20}))?$")
FILES_A_LINE = 10
"""The most files in such a line."""
GROUP_LIMIT = 2 * LINE_LIMIT - 60
"""Characters of such a line."""
_NAMES_A_LINE = 24
"""The most names after one file: readers and models skip a longer list."""
_FEW_NAMES = 4
"""Names after a file that was not changed: each change adds two more."""
MORE = len(" and 999 more")
"""Units reserved after a list that is cut."""
_REST_OF_NAMES = 12
"""The most names without a file."""
_SHORTEST_NAME = 4
_HEX = re.compile(r"[0-9a-fA-F]{3,8}|[\W\d]+")


@dataclass(slots=True)
class Names:
    """The names listed after a file."""

    work: FileWork | None
    candidate: LineCandidate
    names: list[str] = field(default_factory=list)
    more: int = 0
    """Names that were worth listing and are not listed."""
    reserved: bool = False
    """Whether there is room to say so."""

    @property
    def most(self) -> int:
        """The most names that may be listed: more work on the file allows more."""
        if self.work is None:
            return _REST_OF_NAMES
        return min(_NAMES_A_LINE, _FEW_NAMES + 2 * self.work.changes)

    @property
    def length(self) -> int:
        """The length of the line in characters."""
        return len(self.candidate.text) + sum(len(name) + 2 for name in self.names)

    def written(self) -> dict[str, int]:
        """All names in the texts written into the file, each with the position of its last writing."""
        return self.work.names if self.work is not None else {}


def file_lines(evidence: Evidence, chances: Mapping[tuple[FactKind, str], float]) -> list[Names]:
    """One line for each file that was worked on, with that work."""
    found: list[Names] = []
    counts: dict[str, list[Fact]] = {}
    for fact in evidence.facts.values():
        if fact.kind is FactKind.NUMBER and fact.key.endswith(" line") and fact.text[:1].isdigit():
            for path in fact.about:
                counts.setdefault(path, []).append(fact)
    total = max(1, evidence.size)
    counted_at = [evidence.position.get(fact.last, -1) for some in counts.values() for fact in some]
    places = [place for place in counted_at if place >= 0]
    by_command = _changed_by_commands(evidence, min(places)) if places else {}
    for work in sorted(evidence.files.values(), key=lambda work: (-work.last, work.path)):
        path = work.path
        if path in evidence.missing:
            continue
        group = "" if work.changes else file_lists.READ if work.reads else file_lists.NAMED
        done = f"changed {work.changes}×" if work.changes > 1 else "changed"
        # How often a call names a file, in a pattern or a list of steps too, tells nothing of it.
        times = work.reads
        # A change makes an older count wrong.
        changed = max(work.changed, by_command.get(path, -1), by_command.get("", -1))
        counted = [fact for fact in counts.get(path, ()) if evidence.position.get(fact.last, -1) > changed]
        lines = max(counted, key=lambda fact: fact.last, default=None)
        if group:
            text = harmless(
                f"`{path}`{f' {times}×' if times > 1 else ''}{f' ({lines.text})' if lines else ''}"
            )
        else:
            text = harmless(f"`{path}` {done}{f', {lines.text}' if lines else ''}")
        place = len(evidence.candidates) + len(found)
        looked = work.reads + work.named
        worth = (0.4 + 0.15 * min(8, work.changes) if work.changes else 0.1 * min(4, looked)) * (
            0.5 + 0.5 * (work.last + 1) / total
        )
        worth += 12 * chances.get((FactKind.PATH, path), 0.0)
        line = LineCandidate(
            SummarySection.CONTEXT, text, place, tuple(work.sources[-3:]), worth, group=group
        )
        found.append(Names(work, line))
    return found


def _changed_by_commands(evidence: Evidence, since: int) -> dict[str, int]:
    """The last positions behind one at which commands may have changed files; an empty name stands for any file."""
    cwd = evidence.reader.texts.cwd
    return {
        forms.canonical_path(path, cwd) if path else "": place
        for place, calls in evidence.calls.items()
        for call in (calls if place > since else ())
        for path in may_change(command_of(call.arguments), folder_of(call))
    }


def join_bare(taken: Sequence[Names]) -> None:
    """Lets changed files without names share a line, where there are several."""
    bare = [names for names in taken if names.work is not None and names.work.changes and not names.names]
    for names in bare if len(bare) > 1 else ():
        names.candidate.group = file_lists.CHANGED
        names.candidate.text = _BARE.sub(_in_brackets, names.candidate.text)


def _in_brackets(match: re.Match[str]) -> str:
    times, lines = match.groups()
    return f"`{times or ''}{f' ({lines})' if lines else ''}"


def grouped(candidates: Sequence[LineCandidate]) -> list[LineCandidate]:
    """Lines of one group merged into one, at the place of the first of them."""
    lines: list[tuple[LineCandidate, list[str]]] = []
    begun: dict[str, int] = {}
    """The last line of each group, by its place."""
    length: dict[str, int] = {}
    for candidate in candidates:
        group, size = candidate.group, len(candidate.text)
        if group and group in begun:
            line, texts = lines[begun[group]]
            full = group in file_lists.LISTS and len(texts) == FILES_A_LINE
            if not full and length[group] + size <= GROUP_LIMIT:
                length[group] += size + 2
                texts.append(candidate.text)
                line.sources = tuple(dict.fromkeys((*line.sources, *candidate.sources[-1:])))
                continue
        if group:
            begun[group], length[group] = len(lines), len(group) + size
            candidate = replace(candidate, sources=candidate.sources[-1:])
        lines.append((candidate, [candidate.text]))
    for line, texts in lines:
        if line.group:
            line.text = line.group + _joined(line, texts)
    return [line for line, _ in lines]


def _joined(line: LineCandidate, texts: Sequence[str]) -> str:
    if line.group in file_lists.LISTS:
        return file_lists.joined(texts)
    return (", " if line.section is SummarySection.CONTEXT else "; ").join(texts)


def telling(name: str) -> bool:
    """Whether a name is meaningful alone: it has more than one word, and is not a mere number."""
    if len(name) < _SHORTEST_NAME or _HEX.fullmatch(name):
        return False
    return "_" in name.strip("_") or not name[1:].islower()
