"""The files of the path: modified, read, mentioned."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leafward.compaction.injection.findings.path_findings import PathUse
from leafward.compaction.injection.values import Contribution, OfferedBullet, OmissionReason

if TYPE_CHECKING:
    from leafward.compaction.injection.builders.builder_input import BuildInput
    from leafward.compaction.injection.findings.path_findings import PathFile

_SECTION = {
    PathUse.MODIFIED: "workingset.modified",
    PathUse.CREATED: "workingset.modified",
    PathUse.READ: "workingset.read",
    PathUse.MENTIONED: "workingset.mentioned",
}
_CAP = 20
_OFFERED = 500
"""Number of files that are offered; more are only counted."""


def working_set(inputs: BuildInput) -> Contribution:
    """Files by use. If there are too many, they are chosen by use and recency, or by name; the rest is counted."""
    files = [file for file in inputs.found.files.values() if not file.gone]
    gone = [file for file in inputs.found.files.values() if file.gone]
    recent = inputs.settings.order != "alpha"
    files.sort(key=_recent if recent else _alphabetical)
    items: dict[str, list[OfferedBullet]] = {}
    left = [(_SECTION[file.use], _item(file), OmissionReason.GONE) for file in gone[:_OFFERED]]
    beyond: Counter[str] = Counter()
    for rank, file in enumerate(files):
        key = _SECTION[file.use]
        item = _item(file, rank)
        if rank >= _OFFERED:
            beyond[key] += 1
        elif not recent and rank >= _CAP:
            # By name, read files compete with modified ones.
            left.append((key, item, OmissionReason.CAP))
        else:
            items.setdefault(key, []).append(item)
    chosen = {key: tuple(found) for key, found in items.items()}
    return Contribution(chosen, tuple(left), beyond)


def _item(file: PathFile, rank: int = 0) -> OfferedBullet:
    return OfferedBullet(file.path, tuple(file.sources), rank=rank, path=file.path)


def _recent(file: PathFile) -> tuple[int, int, str, str]:
    return file.use, -file.seq, file.path.casefold(), file.path


def _alphabetical(file: PathFile) -> tuple[bool, str, str]:
    return file.use is PathUse.MENTIONED, file.path.casefold(), file.path
