"""Random operations, compactions and summaries among them: undo and redo walk through the states as they were."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.base.errors import Refused
from leafward.base.strategies import Strategy
from leafward.compaction.branch_summary import left_branch, move_with_summary, summarize_branch
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.journal.operation_log import operations
from leafward.session.journal.session_operations import label, move, redo, undo
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.acting import Acting, call, usage

ENTRIES = 14


@dataclass(frozen=True)
class State:
    """State that operations change: the place, the context there, labels."""

    place: str | None
    context: tuple[tuple[int, str, int], ...]
    total: int
    labels: frozenset[tuple[int, str]]


def state_of(session: Session) -> State:
    context = context_at(session)
    return State(
        session.columns.id(session.place) if session.place >= 0 else None,
        tuple((one.entry, one.role, one.tokens) for one in context.messages),
        context.size.total,
        frozenset((int(target), text) for target, text in session.labels.items()),
    )


def small_tree(path: Path) -> None:
    """Two branches behind a beginning, with calls, results of a hundred tokens and more, and a failed one; 14 entries."""
    file = Acting(path)
    file.user("Move the scales to grams, and never round.")
    start = file.said("I look at the harvest first.", tokens=usage(40))
    for number in range(2):
        file.user(f"Go on with part {number}.", parent=start)
        file.said("Reading.", call("read", f"r{number}", path=f"part{number}.py"), tokens=usage(90))
        file.answered(f"r{number}", "read", f"weights {number}\n" * 60, failed=bool(number))
        file.said("Writing.", call("edit", f"e{number}", path=f"part{number}.py"), tokens=usage(200))
        file.answered(f"e{number}", "edit")
        file.said(f"Part {number} is in grams: 12 tests passed.", tokens=usage(260))


places = st.integers(-1, ENTRIES - 1)
steps = st.one_of(
    st.tuples(st.just("compact"), st.sampled_from(list(Strategy)), st.integers(0, 120)),
    st.tuples(st.just("compact at"), places.filter(lambda place: place >= 0), st.integers(0, 60)),
    st.tuples(st.just("carry"), places),
    st.tuples(st.just("move"), places),
    st.tuples(st.just("label"), places.filter(lambda place: place >= 0), st.sampled_from(["", "one", "two"])),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)


def apply(session: Session, step: tuple[object, ...]) -> bool:
    """Does a step; whether anything was written."""
    match step:
        case ("compact", Strategy() as strategy, int(keep)):
            wanted = PlanSettings(strategy=strategy, keep_recent=keep)
            made = plan(measure(session, estimators=[wanted.counting]), wanted)
            return accept(session, draft(session, made, Extractive(), pins=["in grams"])).changed
        case ("compact at", int(at), int(keep)):
            made = plan(measure(session, at), PlanSettings(keep_recent=keep))
            return accept(session, draft(session, made, Extractive())).changed
        case ("carry", int(to)):
            branch = left_branch(session, session.leaf, to)
            if branch is None:
                return move(session, to).changed
            return move_with_summary(session, to, summarize_branch(branch, Extractive())).changed
        case ("move", int(to)):
            return move(session, to).changed
        case ("label", int(target), str(text)):
            return label(session, target, text).changed
    raise AssertionError(step)


@settings(max_examples=50)
@given(st.lists(steps, max_size=10))
def test_every_sequence_of_operations(taken: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        small_tree(path)
        with closing(Session.open(path)) as session:
            _walk(session, taken)


def _walk(session: Session, taken: list[tuple[object, ...]]) -> None:
    states, now = [state_of(session)], 0
    agents = [one.op for one in operations(session)]
    for step in taken:
        before = session.path.read_bytes()
        try:
            if step == ("undo",):
                undo(session)
                now -= 1
            elif step == ("redo",):
                redo(session)
                now += 1
            elif apply(session, step):
                states[now + 1 :] = [state_of(session)]
                now += 1
        except Refused:
            assert session.path.read_bytes() == before
            assert step not in (("undo",), ("redo",)) or now == (0 if step == ("undo",) else len(states) - 1)
            continue
        assert session.path.read_bytes().startswith(before)
        assert state_of(session) == states[now], step
        with closing(Session.open(session.path)) as anew:
            assert state_of(anew) == states[now]
            assert [one.op for one in operations(anew)] == [one.op for one in operations(session)]
        own = [one for one in operations(session) if one.root == one.op and not one.agent]
        assert sum(not one.undone for one in own) == now
        assert [one.op for one in operations(session) if one.agent] == agents
    assert not {problem.code for problem in check(session)} - {
        "several-roots",
        "cwd-missing",
        "dangling-call",
    }
