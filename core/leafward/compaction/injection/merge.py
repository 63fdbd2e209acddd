"""Merges the contributions of the builders: safe text, each path once, caps applied, and every omission recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.injection.plain_text import ITEM_LIMIT, LOOKED_AT, PATH_LIMIT, clean
from leafward.compaction.injection.sections import ORDER, SECTIONS, InjectedSection
from leafward.compaction.injection.values import (
    OfferedBullet,
    OmissionReason,
    Omitted,
    SourceKind,
    SourceRef,
    Tier,
)
from leafward.redaction.silent_texts import silent_among

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leafward.compaction.injection.values import Contribution
    from leafward.redaction.redaction import Redactor


@dataclass(slots=True)
class Bullet:
    """One item ready to be shown: its text is final, except that the budget may cut it."""

    text: str
    tier: Tier
    rank: float
    sources: tuple[SourceRef, ...]
    whole: bool = False
    filler: bool = False
    path: str = ""
    core: str = ""
    marker: bool = False
    """Whether this is the line that counts omitted items, in a section without other bullets."""


@dataclass(slots=True)
class InjectedBlock:
    """One section with its bullets in the order of the text."""

    section: InjectedSection
    bullets: list[Bullet]
    capped: int = 0
    """Number of items that the cap leaves out."""


_TABLE = (
    "stage.source_artifacts",
    "stage.active_files",
    "workingset.modified",
    "workingset.read",
    "workingset.mentioned",
)
"""Sections that share one table of paths."""

ELSEWHERE = "Listed under another heading of this text."
NOTHING = "none recorded"


def merged(
    contributions: Sequence[Contribution], off: frozenset[str], redactor: Redactor
) -> tuple[list[InjectedBlock], list[Omitted]]:
    """The blocks to allocate, in the order of the text, and the items left out before the budget is considered."""
    omitted: list[Omitted] = []
    blocks: dict[str, InjectedBlock] = {}
    redactor.silent = silent_among(_texts(contributions))
    for section in SECTIONS:
        bullets: list[Bullet] = []
        for contribution in contributions:
            for item in contribution.items.get(section.key, ()):
                bullet = _bullet(item, section, redactor)
                if not bullet.text:
                    omitted.append(Omitted(section.key, "", OmissionReason.EMPTY, item.sources))
                elif section.key in off:
                    omitted.append(Omitted(section.key, bullet.text, OmissionReason.OFF, item.sources))
                else:
                    bullets.append(bullet)
        blocks[section.key] = block = InjectedBlock(section, _unique(bullets, omitted, section.key))
        for contribution in contributions:
            block.capped += contribution.beyond.get(section.key, 0) if section.key not in off else 0
            for key, item, reason in contribution.left_out:
                if key == section.key:
                    text = _bullet(item, section, redactor).text
                    reason = OmissionReason.OFF if section.key in off else reason
                    omitted.append(Omitted(section.key, text, reason, item.sources))
                    block.capped += reason is OmissionReason.CAP
    _cap(blocks, omitted)
    return [block for block in blocks.values() if block.bullets], omitted


def _texts(contributions: Sequence[Contribution]) -> Iterator[str]:
    """The texts of all offered items, as far as they are looked at."""
    for contribution in contributions:
        for items in contribution.items.values():
            yield from (item.text[:LOOKED_AT] for item in items)
        yield from (item.text[:LOOKED_AT] for _, item, _ in contribution.left_out)


def _bullet(item: OfferedBullet, section: InjectedSection, redactor: Redactor) -> Bullet:
    limit = PATH_LIMIT if item.path else ITEM_LIMIT
    text = clean(item.text, limit, redactor)
    core = "" if item.filler else clean(item.core, limit, redactor) if item.core else text
    return Bullet(
        text,
        section.tier if item.tier is None else item.tier,
        item.rank,
        item.sources,
        item.whole or bool(item.path),
        item.filler,
        item.path,
        core,
    )


def _unique(bullets: list[Bullet], omitted: list[Omitted], key: str) -> list[Bullet]:
    """Merges equal lines of one section; the merged line keeps all sources and the place of the line that counts most."""
    found: dict[str, Bullet] = {}
    for bullet in bullets:
        first = found.get(bullet.text)
        if first is None:
            found[bullet.text] = bullet
            continue
        omitted.append(Omitted(key, bullet.text, OmissionReason.DUPLICATE, bullet.sources))
        # The first source is that of the line whose place is kept.
        ahead, behind = (bullet, first) if bullet.rank < first.rank else (first, bullet)
        first.sources = _joined(ahead.sources, behind.sources)
        first.tier = min(first.tier, bullet.tier)
        if bullet.rank < first.rank:
            found[bullet.text] = found.pop(bullet.text)
        first.rank = min(first.rank, bullet.rank)
    return list(found.values())


def _joined(first: tuple[SourceRef, ...], second: Iterable[SourceRef]) -> tuple[SourceRef, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _cap(blocks: dict[str, InjectedBlock], omitted: list[Omitted]) -> None:
    """Applies caps and the shared table of paths, the most important sections first: no path is shown twice."""
    shown: dict[str, Bullet] = {}
    left: dict[str, int] = {}
    for section in sorted(SECTIONS, key=lambda section: (section.tier, ORDER[section.key])):
        block = blocks[section.key]
        bullets: list[Bullet] = []
        elsewhere = False
        for bullet in block.bullets:
            first = shown.get(bullet.path) if bullet.path and section.key in _TABLE else None
            if first is None:
                bullets.append(bullet)
                continue
            first.sources = _joined(first.sources, bullet.sources)
            omitted.append(Omitted(section.key, bullet.text, OmissionReason.DUPLICATE, bullet.sources))
            elsewhere = elsewhere or not section.group
        cap = section.cap
        if cap is not None and section.group:
            cap = left.setdefault(section.group, cap)
        if cap is not None and len(bullets) > cap:
            best = sorted(bullets, key=lambda bullet: (bullet.tier, bullet.rank))
            kept = {id(bullet) for bullet in best[:cap]}
            gone = [bullet for bullet in bullets if id(bullet) not in kept]
            omitted += [
                Omitted(section.key, bullet.text, OmissionReason.CAP, bullet.sources) for bullet in gone
            ]
            block.capped += len(gone)
            bullets = [bullet for bullet in bullets if id(bullet) in kept]
        if section.group and cap is not None:
            left[section.group] = cap - len(bullets)
        for bullet in bullets:
            if bullet.path and section.key in _TABLE:
                shown[bullet.path] = bullet
        if section.sort:
            bullets.sort(key=lambda bullet: (bullet.text.casefold(), bullet.text))
        if not bullets and elsewhere:
            bullets = [Bullet(ELSEWHERE, Tier.LAST, 0, (SourceRef(SourceKind.STATIC),), filler=True)]
        if not bullets and block.capped:
            text = omitted_line(block.capped, section)
            bullets = [Bullet(text, Tier.LAST, 0, (SourceRef(SourceKind.DERIVED),), whole=True, marker=True)]
        block.bullets = bullets


def omitted_line(count: int, section: InjectedSection) -> str:
    """The line that counts the omitted items of a section."""
    noun = section.noun[:-1] if count == 1 else section.noun
    return f"… and {count} more {noun}".rstrip()


def nothing(key: str) -> tuple[str, OfferedBullet]:
    """The key and the bullet of a section that is shown although it has no items."""
    return key, OfferedBullet(NOTHING, (SourceRef(SourceKind.STATIC),), Tier.LAST, filler=True)
