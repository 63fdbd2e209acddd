"""What a summary holds of what is really needed afterwards: `python -m tests.bench.need`.

Needed is a fact of the replaced span that the user or the model uses again after the compaction and that the kept messages
do not hold. Counted for the summary that was stored, for ours, and for the last tokens of the span, all of one size; and for
ours with the injected context beside it, which is what a compaction with injection stores.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leafward import agents
from leafward.entries import EntryIndex, Kind
from leafward.errors import LeafwardError
from leafward.facts import Fact, FactKind, FactReader, Voice
from leafward.facts.values import whole_paths
from leafward.injection import inject
from leafward.messages import message_text, messages_of
from leafward.summarizers import Span, tokens_of
from leafward.summarizers.extractive import Extractive
from leafward.survival import Held, Replaced, Text, facts_of, file_names, replaced_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session import Session
    from tests.bench.report import Report

REPOSITORY = Path(__file__).resolve().parent.parent.parent
CORPORA = REPOSITORY.parent / "shared" / "corpora"

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
_SCRIPTED = 400
"""Characters below which a stored summary is a placeholder of a scripted model: ours is given `DEFAULT_SIZE` then."""
DEFAULT_SIZE = 1000
COMPARED = ("stored", "last tokens", "ours", "with injection")


@dataclass(frozen=True)
class Need:
    """One compaction: what is needed after it, and the texts compared."""

    session: str
    compaction: EntryIndex
    span: int
    size: int
    """Tokens that each text may have."""
    needed: tuple[Fact, ...]
    names: dict[str, int]
    texts: dict[str, Text]

    def held(self, name: str, kind: FactKind | None = None) -> int:
        """How many of the needed facts a text holds."""
        text = self.texts[name]
        return sum(
            text.holds(fact, self.names) in {Held.VERBATIM, Held.PARAPHRASED}
            for fact in self.needed
            if kind is None or fact.kind is kind
        )

    def count(self, kind: FactKind | None = None) -> int:
        return sum(kind is None or fact.kind is kind for fact in self.needed)


def span_of(session: Session, there: Replaced) -> Span:
    return Span(there.messages, there.previous, there.previous_entry, there.kept, session.cwd)


def needed(session: Session, there: Replaced) -> list[Fact]:
    """The facts of the replaced span that come back in any branch below the compaction, and that nothing kept holds."""
    facts = facts_of(there.messages, session.cwd, there.previous, there.previous_entry)
    reader = FactReader(session.cwd)
    later = []
    for index in range(there.compaction + 1, len(session)):
        if session.tree.is_ancestor(there.compaction, index):
            for message in messages_of(session.body(index) or {}, Kind(session.columns.kind[index])):
                later += reader.read(EntryIndex(index), message)
    paths = {seen.key for seen in later if seen.kind is FactKind.PATH}
    whole = whole_paths(paths | {fact.key for fact in facts if fact.kind is FactKind.PATH})
    used = {(seen.kind, whole.get(seen.key, seen.key)) for seen in later if seen.voice in _USING}
    kept = Text("\n".join(message_text(said.message) for said in there.kept), session.cwd)
    names = file_names(facts)
    return [
        fact
        for fact in facts
        if fact.kind in ASKED
        and (fact.kind, whole.get(fact.key, fact.key)) in used
        and kept.holds(fact, names) not in {Held.VERBATIM, Held.PARAPHRASED}
    ]


def last_tokens(there: Replaced, size: int) -> str:
    """The end of the span as text, of a size in tokens."""
    text = "\n\n".join(message_text(said.message) for said in there.messages)
    cut = text[-4 * size :]
    while tokens_of(cut) > size:
        cut = cut[max(1, len(cut) // 50) :]
    return cut


def measure(session: Session, compaction: int, size: int | None = None) -> Need:
    there = replaced_by(session, compaction)
    stored = there.summary.split("<read-files>")[0].split("<modified-files>")[0].strip()
    if size is None:
        size = tokens_of(stored) if len(stored) > _SCRIPTED else DEFAULT_SIZE
    ours = Extractive().summarize(span_of(session, there), size)
    injected = inject(session, session.columns.parent[compaction]).text
    texts = {
        "stored": stored,
        "ours": ours.text,
        "with injection": f"{ours.text}\n\n{injected}",
        "last tokens": last_tokens(there, size),
    }
    return Need(
        session.path.stem,
        there.compaction,
        len(there.messages),
        size,
        tuple(needed(session, there)),
        file_names(facts_of(there.messages, session.cwd, there.previous, there.previous_entry)),
        {name: Text(text, session.cwd) for name, text in texts.items()},
    )


def sessions(folder: Path = CORPORA) -> Iterator[Session]:
    """The session files of the corpora that can be read, in the order of their names."""
    for path in sorted(folder.rglob("*.jsonl")):
        try:
            session = agents.agent_of(path).open(path)
        except LeafwardError:
            continue
        try:
            yield session
        finally:
            session.close()


def compactions_of(session: Session) -> list[int]:
    return [index for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION]


def row(need: Need) -> str:
    kinds = [kind for kind in ASKED if need.count(kind)]
    parts = [
        f"{need.session[:22]:<22} #{need.compaction:<5} {need.span:>4} {need.size:>5} {need.count():>6} "
    ]
    for name in COMPARED:
        parts.append(f"{need.held(name):>4}/{need.count():<4}")
        if kinds:
            parts.append(
                "("
                + ", ".join(f"{need.held(name, kind)} of {need.count(kind)} {kind}" for kind in kinds)
                + ")"
            )
    return " ".join(parts)


MODEL_WRITTEN = "before-compaction"
"""The session of the corpora whose stored summaries a model wrote."""
_TIMES_AS_MUCH = 2.0


def need(report: Report, folder: Path = CORPORA) -> None:
    """What summaries hold of what is needed later, for every compaction of a folder of sessions."""
    what = "needed later, in our summary"
    if not folder.is_dir():
        report.skipped(what, f"no {folder.name}")
        return
    model_written = dict.fromkeys(COMPARED, 0)
    for session in sessions(folder):
        for compaction in compactions_of(session):
            found = measure(session, compaction)
            if not found.count():
                continue
            others = ", ".join(f"{name} {found.held(name)}" for name in COMPARED if name != "ours")
            of = f"{found.held('ours')} of {found.count()}"
            report.least(f"{what}: {found.session} #{found.compaction}", of, others)
            if found.session == MODEL_WRITTEN:
                for name in COMPARED:
                    model_written[name] += found.held(name)
    if stored := model_written["stored"]:
        ratio = model_written["ours"] / stored
        against = f"those a model wrote {stored}"
        report.least(f"{what}: in all", str(model_written["ours"]), against, ratio, _TIMES_AS_MUCH)


def main(arguments: Sequence[str] = ()) -> int:
    folder = Path(arguments[0]) if arguments else CORPORA
    if not folder.is_dir():
        print(f"need: skipped, no {folder}")
        return 0
    print(
        "session                compaction span  size needed  stored · last tokens of the same size · ours · ours with injection"
    )
    total = dict.fromkeys(COMPARED, 0)
    for session in sessions(folder):
        for compaction in compactions_of(session):
            need = measure(session, compaction)
            print(row(need), flush=True)
            for name in total:
                total[name] += need.held(name)
    print("in all: " + ", ".join(f"{name} {count}" for name, count in total.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
