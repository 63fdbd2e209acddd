"""Facts needed afterwards that a summary holds: `python -m tests.bench.need`.

Needed is a fact of the replaced span that the user or the model uses again after the compaction and that the kept messages
do not hold. Survival is the share of all facts of the span, by weight, that the text holds; what is kept anyway does not
count for it. Both are told of the summary that was stored, of ours, of the last tokens of the span, and of the best that the
span allows, all of one size; and of each with the injected context beside it, which is what a compaction with injection stores.
Of the files of the working set that are read or changed again later it is told how many the model sees afterwards.
The stored summaries of all agents count, those that a scripted model wrote apart: these are no summaries of anything.

No folder of a session is read, so that the figures are the same on every machine.
"""

from __future__ import annotations

import random
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.files.working_set import touched
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.messages import message_text, messages_of
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import Fact, FactKind, Voice, whole_paths
from leafward.summaries.fates.report import Fate, Survival, facts_of, survival
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import Span, Summary, tokens_of
from leafward.summaries.survival.spans import ReplacedSpan, replaced_by
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names
from tests.bench.weights import without
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.session.session import Session
    from tests.bench.report import Report

ASKED = (
    FactKind.PATH,
    FactKind.COMMAND,
    FactKind.NUMBER,
    FactKind.ERROR,
    FactKind.IDENTIFIER,
    FactKind.URL,
    FactKind.TODO,
)
"""Kinds whose use can be told by their form; demands and decisions are followed without being repeated."""
_USING = frozenset(Voice) - {Voice.OUTPUT, Voice.TOLD}
SCRIPTED = 400
"""Characters below which a stored summary is a placeholder of a scripted model: ours is given `DEFAULT_SIZE` then."""
DEFAULT_SIZE = 1000
COMPARED = ("stored", "last tokens", "ours", "best")
_SAMPLES = 2000
"""How often the compactions are drawn anew for an interval."""
_SEED = 15
NOWHERE = Path("/nonexistent/leafward")
"""A workspace that is not there."""
_OURS: dict[tuple[Path, EntryIndex, int], tuple[Summary, str]] = {}


@dataclass(frozen=True)
class Need:
    """One compaction: what is needed after it, and the texts compared."""

    session: str
    project: str
    cwd: str
    compaction: EntryIndex
    span: int
    size: int
    """Tokens that each text may have."""
    needed: tuple[Fact, ...]
    facts: tuple[Fact, ...]
    """All of the span; the needed ones are among them."""
    names: dict[str, int]
    texts: dict[str, FactText]
    injected: FactText
    injected_size: int
    """Tokens of the injected context, which come on top of `size`."""
    files: tuple[Fact, ...]
    """Those of the working set that a call reads or changes again later."""
    kept: FactText

    def held(self, name: str, kind: FactKind | None = None, *, injection: bool = False) -> int:
        """How many of the needed facts a text holds, or it and the injected context together."""
        texts = [self.texts[name], self.injected] if injection else [self.texts[name]]
        return sum(
            any(text.holds(fact, self.names) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED} for text in texts)
            for fact in self.needed
            if kind is None or fact.kind is kind
        )

    def seen(self, name: str, *, injection: bool = False) -> int:
        """How many of the files that are used again the model sees: in a text, in what is kept, in the injected context."""
        texts = [self.texts[name], self.kept, *([self.injected] if injection else [])]
        return sum(
            any(text.holds(file, self.names) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED} for text in texts)
            for file in self.files
        )

    def fates(self, name: str, *, injection: bool = False) -> tuple[Fate, ...]:
        """Survival of all facts in a text, or in it and the injected context together."""
        injected = self.injected.text if injection else ""
        return survival(self.facts, self.texts[name].text, injected=injected, cwd=self.cwd).fates

    @property
    def by_model(self) -> bool:
        """Whether a model wrote the stored summary, rather than a script, or nobody who can be read."""
        return len(self.texts["stored"].text) > SCRIPTED

    def count(self, kind: FactKind | None = None) -> int:
        return sum(kind is None or fact.kind is kind for fact in self.needed)


def span_of(session: Session, there: ReplacedSpan) -> Span:
    return Span(there.messages, there.previous, there.previous_entry, there.plan, there.kept, cwd=session.cwd)


def needed(session: Session, there: ReplacedSpan, facts: Sequence[Fact]) -> list[Fact]:
    """The facts of a replaced span that come back in any branch below the compaction, and that nothing kept holds."""
    reader = FactReader(session.cwd)
    later = []
    for index in range(there.compaction + 1, len(session)):
        if session.tree.is_ancestor(there.compaction, index):
            for message in messages_of(session.body(index) or {}, Kind(session.columns.kind[index])):
                later += reader.read(EntryIndex(index), message)
    paths = {seen.key for seen in later if seen.kind is FactKind.PATH}
    whole = whole_paths(paths | {fact.key for fact in facts if fact.kind is FactKind.PATH})
    used = {(seen.kind, whole.get(seen.key, seen.key)) for seen in later if seen.voice in _USING}
    kept = FactText("\n".join(message_text(said.message) for said in there.kept), session.cwd)
    names = file_names(facts)
    return [
        fact
        for fact in facts
        if fact.kind in ASKED
        and (fact.kind, whole.get(fact.key, fact.key)) in used
        and kept.holds(fact, names) not in {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
    ]


def files_used_again(session: Session, compaction: int) -> tuple[Fact, ...]:
    """The files that the path to a compaction touched and that a call in any branch below it touches again."""
    at = session.columns.parent[compaction]
    path = [entry for run in session.tree.path_runs(at) for entry in range(run.start, run.stop)]
    below = [
        index for index in range(compaction + 1, len(session)) if session.tree.is_ancestor(compaction, index)
    ]
    again = touched(session, below)
    return tuple(
        Fact(FactKind.PATH, forms.canonical_path(file, session.cwd), file, NO_ENTRY, Voice.CALL)
        for file in touched(session, path)
        if file in again
    )


def last_tokens(there: ReplacedSpan, size: int) -> str:
    """The end of the span as text, of a size in tokens."""
    text = "\n\n".join(message_text(said.message) for said in there.messages)
    cut = text[-4 * size :]
    while tokens_of(cut) > size:
        cut = cut[max(1, len(cut) // 50) :]
    return cut


def best_of(needed: Sequence[Fact], size: int) -> str:
    """The best possible text of the span at a size in tokens: the needed facts alone, one a line, the shortest first."""
    lines: list[str] = []
    for fact in sorted(needed, key=lambda fact: (len(fact.key), fact.kind, fact.key)):
        if tokens_of("\n".join([*lines, fact.key])) > size:
            break
        lines.append(fact.key)
    return "\n".join(lines)


def project_of(path: Path) -> str:
    """Whose work a session of the corpora is: sessions of one project are never on both sides of a fit."""
    within = path.relative_to(CORPORA) if path.is_relative_to(CORPORA) else path
    if within.parts[0] == "real":
        return "/".join(path.stem.split("__")[:2])
    if within.parts[0] == "public":
        return within.parts[1].replace("__", "/")
    return "badlogic/pi-mono" if within.parts[0] == "pi" else "scripted"


def ours_of(session: Session, there: ReplacedSpan, size: int) -> tuple[Summary, str]:
    """Our summary of a span, with weights that were fitted without its project, and the injected context there; made once."""
    key = session.path, there.compaction, size
    if key not in _OURS:
        ours = Extractive(without(project_of(session.path))).summarize(span_of(session, there), size)
        parent = session.columns.parent[there.compaction]
        _OURS[key] = ours, inject(session, parent, InjectionSettings(workspace=NOWHERE)).text
    return _OURS[key]


def measure(session: Session, compaction: int, size: int | None = None) -> Need:
    """One compaction; ours with weights that were fitted without its project."""
    there = replaced_by(session, compaction)
    stored = there.summary.split("<read-files>")[0].split("<modified-files>")[0].strip()
    if size is None:
        size = tokens_of(stored) if len(stored) > SCRIPTED else DEFAULT_SIZE
    ours, injected = ours_of(session, there, size)
    facts = facts_of(there.messages, session.cwd, there.previous, there.previous_entry, plan=there.plan)
    later = needed(session, there, facts)
    texts = {
        "stored": stored,
        "ours": ours.text,
        "last tokens": last_tokens(there, size),
        "best": best_of(later, size),
    }
    return Need(
        session.path.stem,
        project_of(session.path),
        session.cwd,
        there.compaction,
        len(there.messages),
        size,
        tuple(later),
        tuple(facts),
        file_names(facts),
        {name: FactText(text, session.cwd) for name, text in texts.items()},
        FactText(injected, session.cwd),
        tokens_of(injected),
        files_used_again(session, compaction),
        FactText("\n".join(message_text(said.message) for said in there.kept), session.cwd),
    )


def sessions(folder: Path = CORPORA, *, copies: bool = False) -> Iterator[Session]:
    """The compacted sessions of every agent below a folder, in the order of their paths; forks and sub-agents only if asked."""
    for card in _compacted(folder):
        if copies or card.relation is None:
            with closing(agent_named(card.agent).open(Path(card.path))) as session:
                yield session


@cache
def _compacted(folder: Path) -> list[Card]:
    with tempfile.TemporaryDirectory() as index:
        catalogue = Catalogue(Config(roots={"pi": ()}), [folder], index_path=Path(index) / "index")
        catalogue.refresh()
        cards = sorted(catalogue.cards(), key=lambda card: card.path)
    return [card for card in cards if card.problem is None and card.compactions]


def compactions_of(session: Session) -> list[int]:
    return [index for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION]


def share(needs: Iterable[Need], name: str, *, injection: bool = False) -> float:
    """The part of all facts, by weight, that the texts hold; 0…1."""
    fates = tuple(fate for need in needs for fate in need.fates(name, injection=injection))
    return Survival(fates).overall() or 0.0


def row(need: Need) -> str:
    """One compaction: needed facts held and survival of each text, alone and with the injected context."""
    cells = [
        f"{need.session[:22]:<22} #{need.compaction:<5} {need.span:>4} {need.size:>5} {need.injected_size:>5}"
    ]
    cells.append(f"{need.count():>7} {len(need.facts):>6}")
    for name in COMPARED:
        alone, beside = need.held(name), need.held(name, injection=True)
        told, both = 100 * share([need], name), 100 * share([need], name, injection=True)
        cells.append(f"{alone:>6} {told:>4.0f} % {beside:>6} {both:>4.0f} %")
    return "  ".join(cells)


def by_kind(need: Need) -> str:
    """How many of the needed facts of each kind each text holds."""
    kinds = [kind for kind in ASKED if need.count(kind)]
    told = (
        f"{name} " + ", ".join(f"{need.held(name, kind)} of {need.count(kind)} {kind}" for kind in kinds)
        for name in COMPARED
    )
    return "    " + "; ".join(told) if kinds else ""


HEADING = (
    f"{'':<22} {'':<6} {'':>4} {'':>5} {'':>5}  {'':>7} {'':>6}"
    + "".join(f"  {name:>13} {'+ injection':>13}" for name in COMPARED)
    + f"\n{'session':<22} {'entry':<6} {'span':>4} {'size':>5} {'inj.':>5}  {'needed':>7} {'facts':>6}"
    + "".join(f"  {'need':>6} {'surv.':>6} {'need':>6} {'surv.':>6}" for _ in COMPARED)
)


@dataclass(frozen=True)
class Ratio:
    """How many times as many needed facts one text holds as another, over some compactions."""

    times: float
    low: float
    high: float
    """Between which 95 % of the ratios lie when as many compactions are drawn anew, with repetition."""


def ratio(needs: Sequence[Need], over: str, of: str = "ours") -> Ratio | None:
    """None where the other text holds nothing."""
    counts = [(need.held(of), need.held(over)) for need in needs]
    if not (under := sum(other for _, other in counts)):
        return None
    draws = random.Random(_SEED)
    found = []
    for _ in range(_SAMPLES):
        drawn = draws.choices(counts, k=len(counts))
        if below := sum(other for _, other in drawn):
            found.append(sum(own for own, _ in drawn) / below)
    found.sort()
    edge = len(found) // 40
    return Ratio(sum(own for own, _ in counts) / under, found[edge], found[-1 - edge])


def measured(folder: Path = CORPORA) -> Iterator[Need]:
    """Every compaction below a folder after which anything is needed."""
    for session in sessions(folder):
        for compaction in compactions_of(session):
            found = measure(session, compaction)
            if found.count():
                yield found


def told_of(needs: Sequence[Need]) -> list[str]:
    """Needed facts that each text holds in all, and how ours compares, one line each."""
    of = sum(need.count() for need in needs)
    lines = [f"{name}: {sum(need.held(name) for need in needs)} of {of}" for name in COMPARED]
    ratios = {over: ratio(needs, over) for over in ("stored", "last tokens")}
    lines += [
        f"ours is {found.times:.2f} x {over} (95 % interval {found.low:.2f} to {found.high:.2f}, {len(needs)} compactions)"
        for over, found in ratios.items()
        if found is not None
    ]
    files = sum(len(need.files) for need in needs)
    if files:
        shares = (
            f"{name} {sum(need.seen(name) for need in needs)}, with injection {sum(need.seen(name, injection=True) for need in needs)}"
            for name in COMPARED
        )
        lines.append(f"files used again that the model sees, of {files}: " + "; ".join(shares))
    return lines


def table(folder: Path = CORPORA) -> str:
    """The table of the documents: the summaries that a model wrote by project, all other compactions together."""
    groups: dict[str, list[Need]] = {}
    for found in measured(folder):
        groups.setdefault(found.project if found.by_model else "", []).append(found)
    lines = [
        "| compactions | text | needed later | + injection | all facts | + injection |",
        "|---|---|---|---|---|---|",
    ]
    titles = {
        "stored": "by a model",
        "last tokens": "the last characters",
        "ours": "**extractive**",
        "best": "best possible",
    }
    for key, needs in sorted(groups.items(), key=lambda group: (not group[0], group[0])):
        sizes = [need.size for need in needs]
        size = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        about = f"{key or 'others, without one by a model'}: {len(needs)}, in {size} tokens"
        for name in COMPARED if key else COMPARED[1:]:
            alone = sum(need.held(name) for need in needs)
            beside = sum(need.held(name, injection=True) for need in needs)
            of = sum(need.count() for need in needs)
            parts = (f"{100 * share(needs, name, injection=injection):.0f} %" for injection in (False, True))
            lines.append(
                "| " + " | ".join((about, titles[name], f"{alone} of {of}", str(beside), *parts)) + " |"
            )
            about = ""
    written = [need for key, needs in groups.items() if key for need in needs]
    lines.append("")
    for over, title in (("stored", "the model's own"), ("last tokens", "the last characters")):
        if (over_all := ratio(written, over)) is not None:
            lines.append(
                f"- Over the {len(written)} compactions that a model summarised, extractive holds {over_all.times:.2f} times as"
                f" much of what is needed as {title} (95 % interval over compactions: {over_all.low:.2f} to {over_all.high:.2f})."
            )
    every = [need for needs in groups.values() for need in needs]
    files = sum(len(need.files) for need in every)
    alone = sum(need.seen("ours") for need in every)
    beside = sum(need.seen("ours", injection=True) for need in every)
    lines.append(
        f"- Of {files} files of the working sets that calls read or change again after the {len(every)} compactions, the model sees"
        f" {alone} with extractive, {beside} with the injected context beside it, as whole paths or by a name that only one has."
    )
    return "\n".join(lines).replace("|  |", "| |")


_FILES_SEEN = 0.99
_TIMES_AS_MUCH = 1.5
_TIMES_THE_END = 1.3


def need(report: Report, folder: Path = CORPORA) -> None:
    """Facts needed later that summaries hold, for every compaction of a folder of sessions."""
    what = "needed later, in our summary"
    if not folder.is_dir():
        report.skipped(what, f"no {folder.name}")
        return
    model_written: list[Need] = []
    files = seen = 0
    for found in measured(folder):
        files += len(found.files)
        seen += found.seen("ours", injection=True)
        others = ", ".join(f"{name} {found.held(name)}" for name in COMPARED if name != "ours")
        of = f"{found.held('ours')} of {found.count()}"
        report.least(f"{what}: {found.session} #{found.compaction}", of, others)
        shares = (f"{name} {100 * share([found], name):.0f} %" for name in COMPARED if name != "ours")
        own = f"{100 * share([found], 'ours'):.0f} %"
        report.least(f"survival of all facts: {found.session} #{found.compaction}", own, ", ".join(shares))
        if found.by_model:
            model_written.append(found)
    if files:
        told = f"{seen} of {files}"
        report.least("files used again, seen with injection", told, "", seen / files, _FILES_SEEN)
    for over, bar in (("stored", _TIMES_AS_MUCH), ("last tokens", _TIMES_THE_END)):
        if (times := ratio(model_written, over)) is not None:
            ours = str(sum(found.held("ours") for found in model_written))
            against = f"{over} {sum(found.held(over) for found in model_written)}"
            report.least(f"{what}: in all, beside {over}", ours, against, times.times, bar)


def main(arguments: Sequence[str] = ()) -> int:
    """Prints one line a compaction for a folder of sessions; with `--table` the table of the documents."""
    folders = [argument for argument in arguments if argument != "--table"]
    folder = Path(folders[0]).absolute() if folders else CORPORA
    if not folder.is_dir():
        print(f"need: skipped, no {folder}")
        return 0
    if "--table" in arguments:
        print(table(folder))
        return 0
    print(HEADING)
    projects: dict[str, list[Need]] = {}
    for found in measured(folder):
        print(row(found), flush=True)
        print(by_kind(found), flush=True)
        projects.setdefault(found.project if found.by_model else "without a summary by a model", []).append(
            found
        )
    for project, needs in projects.items():
        print(f"\n{project}: {len(needs)} compactions", *told_of(needs), sep="\n  ")
    written = [found for needs in projects.values() for found in needs if found.by_model]
    if written:
        print(f"\nall that a model summarised: {len(written)} compactions", *told_of(written), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
