"""Grafts: chosen turns of one branch, appended again under another; the model receives them as if they had happened there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, Refused
from leafward.base.times import iso_stamp
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.replay import replay
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.session.entries import BOOKKEEPING, MARK, Body, EntryIndex, Kind, tool_calls
from leafward.session.journal.lines import new_id
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import GRAFT_TYPE, OperationKind
from leafward.session.journal.placement import Place, milliseconds, place_at, usage_body
from leafward.session.journal.write import Write, Writing, write
from leafward.session.messages import did_run, message_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.session import Session

CARRIED = frozenset({
    Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH, Kind.CUSTOM_MESSAGE, Kind.INJECTED,
    Kind.CUSTOM_ROLE
})  # fmt: skip
"""Kinds that can be appended again: messages. Compactions and summaries describe another path."""
_DEFAULT = Writing()


class Misfit(NamedTuple):
    """Something that does not fit at the place of a graft. Misfits are shown; only a graft that cannot be sent is refused."""

    code: str
    text: str
    """One line."""
    entry: EntryIndex


@dataclass(frozen=True, slots=True)
class GraftDraft:
    """A graft worked out whole, not yet written."""

    sources: tuple[EntryIndex, ...]
    """Entries to append again, in order: with results, without metadata."""
    added: tuple[EntryIndex, ...]
    """Entries of `sources` that were not chosen: they belong to a chosen call or turn."""
    onto: EntryIndex
    place: Place
    tokens: int
    """Tokens of the appended entries, estimated."""
    tokens_before: int
    """Tokens of the context at `onto`."""
    tokens_after: int
    window: int
    misfits: tuple[Misfit, ...]

    def lines(self, session: Session, writing: Writing) -> list[Body]:
        """The lines to append: copies with new ids, and a marker behind them."""
        moment, _ = milliseconds(writing.now)
        taken: set[str] = {self.place.id}
        parent = self.place.parent_id
        made: list[Body] = []
        copies: dict[str, str] = {}
        for source in self.sources:
            body = dict(session.body(source) or {})
            entry = new_id(session.columns, taken)
            taken.add(entry)
            original = session.columns.id(source)
            copies[original] = entry
            kept = {
                key: value
                for key, value in body.items()
                if key not in ("type", "id", "parentId", "timestamp", MARK)
            }
            if isinstance(kept.get("message"), dict) and "usage" in kept["message"]:
                # The usage was reported for another context, and is counted where it was spent.
                kept["message"] = {**kept["message"], "usage": usage_body(None, None)}
            head = {"type": body.get("type"), "id": entry, "parentId": parent, "timestamp": iso_stamp(moment)}
            made.append({**head, **kept})
            parent = entry
        data = {
            "op": self.place.id,
            "from": self.place.leaf,
            "target": self.place.parent_id,
            "copies": copies,
        }
        place = {"id": self.place.id, "parentId": parent, "timestamp": iso_stamp(moment)}
        return [*made, {"type": "custom", "customType": GRAFT_TYPE, "data": data, **place}]


def draft_graft(
    session: Session,
    chosen: Iterable[int],
    onto: int | None = None,
    *,
    window: int = 200_000,
    stop: Callable[[], bool] = lambda: False,
) -> GraftDraft:
    """Works out a graft: the chosen entries under `onto` (the leaf by default). Nothing is written.

    Calls keep their results, and results their calls, whether they were chosen or not. Raises Refused where no chosen entry
    can be carried, and where the graft would not fit into the window (tokens); Cancelled once `stop` turns true.
    """
    carried = {index for index in chosen if session.columns.kind[index] in CARRIED}
    if not carried:
        raise Refused("nothing chosen can be grafted: only prompts, replies, results and messages can")
    here = EntryIndex(session.leaf if onto is None else onto)
    sources, misfits = _whole(session, sorted(carried))
    if stop():
        raise Cancelled("stopped")
    on_path = set(session.tree.path(here))
    already = [index for index in sources if index in on_path]
    if already:
        named = session.columns.id(EntryIndex(already[0]))
        raise Refused(f"{named} is on the path already: choose turns of another branch")
    misfits = [*_again(session, sources, here), *misfits, *_order(session, sources, here)]
    misfits += _stale(session, sources, here, stop)
    metrics = EntryMetrics(session)
    metrics.fill(session, sources)
    tokens = sum(metrics.tokens[index] for index in sources)
    before = context_at(session, here).total
    if before + tokens > window:
        raise Refused(
            f"the graft has {tokens:,} tokens and the context there {before:,}: more than the window of {window:,}"
        )
    return GraftDraft(
        tuple(EntryIndex(index) for index in sources),
        tuple(EntryIndex(index) for index in sources if index not in carried),
        here,
        place_at(session, here),
        tokens,
        before,
        before + tokens,
        window,
        tuple(misfits),
    )


def _whole(session: Session, entries: list[int]) -> tuple[list[int], list[Misfit]]:
    """The entries with the calls and results that belong to them, in file order."""
    kinds, tree = session.columns.kind, session.tree
    found = set(entries)
    misfits: list[Misfit] = []
    for index in entries:
        if kinds[index] == Kind.TOOL_RESULT:
            reply = index
            while reply >= 0 and kinds[reply] != Kind.ASSISTANT:
                reply = tree.parent[reply]
            if reply >= 0:
                found.add(reply)
    for reply in sorted(found):
        if kinds[reply] != Kind.ASSISTANT:
            continue
        message = message_in(session.body(reply) or {})
        open_calls = {call.id: call.name for call in tool_calls(message)} if did_run(message) else {}
        below = list(tree.children(reply))
        while open_calls and below:
            index = below.pop()
            if kinds[index] == Kind.TOOL_RESULT:
                call = str(message_in(session.body(index) or {}).get("toolCallId"))
                if open_calls.pop(call, None) is not None:
                    found.add(index)
                below += tree.children(index)
            elif kinds[index] in BOOKKEEPING:
                below += tree.children(index)
        if open_calls:
            names = ", ".join(sorted(set(open_calls.values())))
            misfits.append(
                Misfit(
                    "open-calls",
                    f"no result of {names} exists: the model is told that there is none",
                    EntryIndex(reply),
                )
            )
    return sorted(found), misfits


def _again(session: Session, sources: list[int], here: EntryIndex) -> list[Misfit]:
    """Misfits for entries of which the path already holds copies from an earlier graft."""
    kinds = session.columns.kind
    marks = [
        index
        for index in session.tree.path(here)
        if kinds[index] == Kind.CUSTOM and (session.is_native or session.is_kept(index))
    ]
    held: set[str] = set()
    for _, body in session.bodies(marks):
        if body is not None and body.get("customType") == GRAFT_TYPE and isinstance(body.get("data"), dict):
            copies = body["data"].get("copies")
            held.update(copies if isinstance(copies, dict) else ())
    twice = [index for index in sources if session.columns.id(EntryIndex(index)) in held]
    if not twice:
        return []
    verb = "was" if len(twice) == 1 else "were"
    text = f"{len(twice):,} of these entries {verb} grafted here before: the context would have them twice"
    return [Misfit("grafted-already", text, EntryIndex(twice[0]))]


def _order(session: Session, sources: list[int], here: EntryIndex) -> list[Misfit]:
    """Misfits in the order: two prompts in a row, a graft that begins with a reply, entries of different branches."""
    kinds, found = session.columns.kind, []
    first = EntryIndex(sources[0])
    before = session.tree.content_at(here)
    if kinds[first] == Kind.USER and before >= 0 and kinds[before] == Kind.USER:
        found.append(
            Misfit("two-prompts", "the graft begins with a prompt, right after another prompt", first)
        )
    if kinds[first] == Kind.ASSISTANT and (before < 0 or kinds[before] == Kind.ASSISTANT):
        found.append(
            Misfit("no-prompt", "the graft begins with a reply to a prompt that is not grafted", first)
        )
    gaps = [
        EntryIndex(below) for above, below in pairwise(sources) if not session.tree.is_ancestor(above, below)
    ]
    if gaps:
        found.append(
            Misfit(
                "other-branch", "the graft joins entries of branches that do not follow each other", gaps[0]
            )
        )
    return found


def _stale(session: Session, sources: list[int], here: EntryIndex, stop: Callable[[], bool]) -> list[Misfit]:
    """Misfits for files that the grafted turns read or changed and that have other contents on the target path."""
    made = [step for step in steps(session, sources, stop) if step.outcome is StepOutcome.DONE]
    names = {step.path for step in made}
    if not names:
        return []
    there = replay(session, here, names, stop)
    source = replay(session, session.columns.parent[sources[0]], names, stop) if sources[0] > 0 else None
    found = []
    for name in sorted(names):
        entry = next(step.entry for step in made if step.path == name)
        changed = any(step.path == name and step.operation is not FileOperation.READ for step in made)
        now = there.rebuilt(name)
        then = source.rebuilt(name) if source is not None else now
        if Certainty.UNKNOWN in (now.certainty, then.certainty) and changed:
            where = "at the leaf" if now.certainty is Certainty.UNKNOWN else "before these turns"
            found.append(Misfit("unknown-file", f"{name}: its contents {where} are not known", entry))
        elif (now.certainty, now.text) != (then.certainty, then.text):
            found.append(
                Misfit("stale-file", f"{name}: the grafted turns relied on another version of it", entry)
            )
        elif changed:
            found.append(
                Misfit(
                    "not-replayed",
                    f"{name}: the model sees its change, but the file is not changed again",
                    entry,
                )
            )
    return found


def apply_graft(session: Session, draft: GraftDraft, writing: Writing = _DEFAULT) -> Write:
    """Appends the graft in one write; an undo moves the leaf back to where it was.

    Raises Refused where the conversation went on since the draft was made, or the file cannot be written.
    """
    refuse_changed(session)
    ready = replace(draft, place=place_at(session, draft.onto, draft.place))
    return write(session, OperationKind.GRAFT, ready.lines(session, writing), draft.onto, writing)
