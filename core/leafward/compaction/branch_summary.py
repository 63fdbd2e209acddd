"""Summarises the branch that a move leaves, and carries the summary along to the target.

The entries from the old leaf up to the common ancestor are summarised, results of tools included, the newest first within a
budget. A compaction on the branch does not stop this: the messages that it replaced are read themselves, and its summary is
used only if they do not all fit. The summary is stored as in pi 1.5.2, as a child of the target.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.base.config import DEFAULT_WINDOW, PI_RESERVE
from leafward.base.errors import Cancelled, Refused
from leafward.base.figures import counted
from leafward.compaction.draft.draft_assembly import LEAST_SUMMARY, SMALL_SUMMARY
from leafward.compaction.draft.replacement import previous_summary
from leafward.compaction.plan.settings import FILE_BUDGET, SUMMARY_TOKENS
from leafward.compaction.stored_summary.current_file_names import current_file_names
from leafward.compaction.stored_summary.file_lists import (
    FileLists,
    Touches,
    file_lists,
    recent_first,
    stored_lists,
)
from leafward.compaction.stored_summary.provenance import provenance
from leafward.compaction.stored_summary.stored_summary import (
    FILE_SHARE,
    file_section,
    fitted,
    stored_parts,
    stored_text,
)
from leafward.context.sizes import entries_below
from leafward.files.tool_calls import NATIVE_TOOLS, FileAction, ToolTable
from leafward.files.working_set import operations as file_calls
from leafward.session.entries import NO_ENTRY, SILENT_BYTES, Body, EntryIndex, Kind
from leafward.session.journal.lines import utc_now
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.placement import Place, milliseconds, place_at, stamped, usage_body
from leafward.session.journal.targets import landing
from leafward.session.journal.write import Writing, write
from leafward.session.messages import edit_message, edit_targets, messages_of, summary_words
from leafward.session.tokens import CHARS_PER_TOKEN, message_tokens, utf16_length
from leafward.summaries.summarizers.summary import Purpose, Span, Summary, tokens_of
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.columns import Columns
    from leafward.session.journal.lines import Clock
    from leafward.session.journal.write import Write
    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.summarizers.summary import Summarizer

_BESIDE = 10
"""Older branch summaries are still added up to this part (one in so many) of the budget."""
_GAP = 2
_DEFAULT = Writing()


@dataclass(frozen=True, slots=True)
class LeftBranch:
    """The branch that a move leaves. Sizes in tokens, as pi 1.5.2 estimates them."""

    start: EntryIndex
    """The leaf that is left."""
    target: EntryIndex
    """The target of the move; -1 is before everything."""
    ancestor: EntryIndex
    """The deepest entry on both paths; -1 if there is none."""
    entries: tuple[EntryIndex, ...]
    """The entries with messages, in the order of the path, including those that do not fit the budget."""
    messages: tuple[SpanMessage, ...]
    """The messages that the summary is made from."""
    left_out: int
    """Number of messages that do not fit the budget: the oldest ones."""
    previous: str
    """The summary of those messages, if a compaction on the branch made one."""
    previous_entry: EntryIndex
    plan: Items
    """The agent's own task list before these messages."""
    tokens: int
    """Tokens of the whole branch."""
    summarised_tokens: int
    """Tokens of the messages that the summary is made from."""
    cwd: str
    columns: Columns
    read: tuple[str, ...]
    """The files of the whole branch, including those listed by its compactions and summaries, the most recent first."""
    modified: tuple[str, ...]

    def span(self, focus: str = "") -> Span:
        """The span that the summary replaces."""
        return Span(
            messages=self.messages,
            previous=self.previous,
            previous_entry=self.previous_entry,
            plan=self.plan,
            cwd=self.cwd,
            focus=focus,
            purpose=Purpose.BRANCH,
        )

    def budget(self, max_tokens: int | None = None) -> int:
        """Tokens that the summary may take. Raises Refused if a limit leaves no room for one."""
        content = max(SMALL_SUMMARY, self.summarised_tokens + tokens_of(self.previous))
        if max_tokens is None:
            return min(SUMMARY_TOKENS, content)
        listed = max_tokens // FILE_SHARE if self.read or self.modified else 0
        if max_tokens - listed < LEAST_SUMMARY:
            raise Refused(f"{max_tokens:,} tokens leave no room for a summary; allow more")
        return min(max_tokens - listed, content)


@dataclass(frozen=True, slots=True)
class BranchDraft:
    """A branch summary that is complete but not written."""

    branch: LeftBranch
    summary: Summary
    text: str
    """The entry's `summary`, byte for byte."""
    tokens: int
    """Tokens of the text."""
    focus: str
    remarks: tuple[str, ...]
    """One line each."""

    def details(self) -> Body:
        """The entry's `details`: the file lists as pi stores them, and the provenance of the summary."""
        ours = provenance(self.summary, self.text, self.branch.columns, None)
        if self.focus:
            ours["focus"] = self.focus
        return {**stored_lists(self.branch.read, self.branch.modified), "leafward": ours}

    def line(self, place: Place, now: Clock = utc_now) -> Body:
        """The entry to be appended at a place."""
        moment, _ = milliseconds(now)
        fields: Body = {
            "fromId": place.leaf if place.leaf is not None else "root",
            "summary": self.text,
            "details": self.details(),
            "usage": usage_body(self.summary.usage, self.summary.cost),
            "fromHook": False,
        }
        return stamped("branch_summary", place, moment, fields)


def leaves_something(session: Session, start: int, to: int) -> bool:
    """Whether a move leaves any message that could be summarised. Decodes nothing."""
    tree = session.tree
    below = tree.below(tree.common_ancestor(start, to), start)
    return any(tree.kind[run.start : run.stop].translate(None, SILENT_BYTES) for run in below)


def left_branch(
    session: Session,
    start: int,
    to: int,
    *,
    window: int = DEFAULT_WINDOW,
    reserve: int = PI_RESERVE,
    table: ToolTable = NATIVE_TOOLS,
    stop: Callable[[], bool] = lambda: False,
) -> LeftBranch | None:
    """The branch that is left when the leaf moves from one entry to another; None if there is nothing to summarise.

    Takes the messages that fit into the window minus the reserve, the newest first. Raises Cancelled once `stop` returns true.
    """
    if not leaves_something(session, start, to):
        return None
    ancestor = session.tree.common_ancestor(start, to)
    found = _Reading(session, table)
    for index, body in session.bodies(entries_below(session, ancestor, start)):
        if stop():
            raise Cancelled("stopped")
        found.read(index, body or {})
    found.apply_edits()
    messages = found.messages
    sizes = [message_tokens(message.message) for message in messages]
    chosen = _fitting(messages, sizes, max(0, window - reserve))
    if not chosen:
        return None
    left_out = len(messages) - len(chosen)
    return LeftBranch(
        EntryIndex(start),
        EntryIndex(to),
        ancestor,
        tuple(message.entry for message in messages),
        tuple(messages[place] for place in chosen),
        left_out,
        found.summary if left_out else "",
        found.compaction if left_out else NO_ENTRY,
        plan_before(session, [messages[place] for place in chosen]),
        sum(sizes),
        sum(sizes[place] for place in chosen),
        session.cwd,
        session.columns,
        *found.files(session.cwd),
    )


def _fitting(messages: Sequence[SpanMessage], sizes: Sequence[int], budget: int) -> list[int]:
    """Places of the messages that fit, the newest and older branch summaries, which have a share of their own."""
    first, tokens = len(messages), 0
    while first and (tokens + sizes[first - 1] <= budget or first == len(messages)):
        first -= 1
        tokens += sizes[first]
    beside = [place for place in range(first) if messages[place].message.get("role") == "branchSummary"]
    taken: list[int] = []
    room = budget // _BESIDE
    for place in reversed(beside):
        if sizes[place] <= room:
            room -= sizes[place]
            taken.append(place)
    return [*sorted(taken), *range(first, len(messages))]


class _Reading:
    """Reads the entries of a branch once, from old to new."""

    def __init__(self, session: Session, table: ToolTable) -> None:
        self.kinds = session.columns.kind
        self.columns = session.columns
        self.table = table
        self.messages: list[SpanMessage] = []
        self.compaction = NO_ENTRY
        self.summary = ""
        self._place: dict[int, int] = {}
        self._edits: dict[int, object] = {}
        self._lists: list[FileLists] = []
        self._paths: list[str] = []
        self._modifies = bytearray()

    def read(self, index: EntryIndex, body: Body) -> None:
        kind = Kind(self.kinds[index])
        if kind is Kind.CONTEXT_EDIT and "replacement" in body:
            for target in edit_targets(body):
                self._edits[self.columns.index(target)] = body["replacement"]
        elif kind is Kind.COMPACTION:
            self.compaction = index
            self.summary = previous_summary(stored_parts(summary_words(body)))
            self._carry(body)
        elif kind not in SILENT_BYTES:
            if kind is Kind.BRANCH_SUMMARY:
                self._carry(body)
            for message in messages_of(body, kind):
                if message.get("role") not in ("system", "compactionSummary") and not (
                    message.get("role") == "bashExecution" and message.get("excludeFromContext")
                ):
                    self._place[index] = len(self.messages)
                    self.messages.append(SpanMessage(index, message))
            for call in file_calls(body, self.table, index):
                self._paths.append(call.path)
                self._modifies.append(call.action is not FileAction.READ)

    def _carry(self, body: Body) -> None:
        lists = FileLists.stored(body)
        if lists is not None:
            self._lists.append(lists)

    def apply_edits(self) -> None:
        """Applies the latest edit of each message; messages removed by an edit are dropped."""
        for target, replacement in self._edits.items():
            place = self._place.get(target)
            if place is not None:
                edited = edit_message(self.messages[place].message, replacement)
                self.messages[place] = SpanMessage(self.messages[place].entry, edited or {})
        self.messages = [message for message in self.messages if message.message]

    def files(self, cwd: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files of the branch within the budget, read and modified, by their names at its end."""
        earlier = self._carried()
        touches = Touches(array("i", range(len(self._paths))), tuple(self._paths), bytes(self._modifies))
        read, modified = recent_first(touches, len(touches), earlier)
        files = file_lists(touches, len(touches), earlier, FILE_BUDGET)
        listed = {*files.read, *files.modified}
        return current_file_names(
            [path for path in read if path in listed],
            [path for path in modified if path in listed],
            self.messages,
            cwd,
            earlier,
        )

    def _carried(self) -> FileLists:
        """The lists of the branch's compactions and summaries, merged."""
        read: dict[str, None] = {}
        modified: dict[str, None] = {}
        for lists in self._lists:
            read.update(dict.fromkeys(lists.read))
            modified.update(dict.fromkeys(lists.modified))
        return FileLists(tuple(read), tuple(modified))


def summarize_branch(
    branch: LeftBranch,
    summarizer: Summarizer,
    *,
    focus: str = "",
    max_tokens: int | None = None,
    progress: Callable[[str], object] = lambda _text: None,
    stop: Callable[[], bool] = lambda: False,
) -> BranchDraft:
    """Makes the summary of a branch; writes nothing. `max_tokens` bounds the whole stored text.

    Raises Refused if the summary is empty, Cancelled if `stop` returns true, and the summariser's errors.
    """
    made = summarizer.summarize(branch.span(focus), branch.budget(max_tokens), progress, stop)
    return _drafted(branch, made, focus, max_tokens)


def _drafted(branch: LeftBranch, made: Summary, focus: str, max_tokens: int | None) -> BranchDraft:
    remarks = list(made.remarks)
    if branch.left_out:
        remarks.append(
            f"no room in the request for the oldest {counted(branch.left_out, 'message')} of the branch"
        )
    words = made.text
    limit = max_tokens * CHARS_PER_TOKEN if max_tokens is not None else None
    if limit is not None:
        words, dropped = fitted(words, limit)
        if dropped:
            remarks.append(f"{counted(dropped, 'line')} left out to stay within {max_tokens:,} tokens")
    if not words.strip():
        raise Refused("the summary is empty: nothing of the branch fits; nothing was written")
    units = utf16_length(words) // (FILE_SHARE - 1)
    if limit is not None:
        units = min(units, limit - utf16_length(words))
    most = limit - utf16_length(words) - _GAP if limit is not None else None
    files = file_section(branch.read, branch.modified, words, branch.cwd, units - _GAP, most)
    text = stored_text(words, files=files)
    summary = replace(made, text=words)
    return BranchDraft(branch, summary, text, tokens_of(text), focus, tuple(remarks))


def move_with_summary(
    session: Session, target: int, branch_draft: BranchDraft, writing: Writing = _DEFAULT
) -> Write:
    """Moves the leaf to an entry (-1: before everything) and carries the branch's summary along: one line.

    Raises Refused if the conversation went on since the summary was made, if nothing can follow the target, or if the file
    cannot be written.
    """
    refuse_changed(session)
    branch = branch_draft.branch
    if session.tree.content_at(branch.start) != session.place or branch.target != target:
        raise Refused(f"{session.path.name} has changed since this summary was made; make it again")
    place = place_at(session, target)
    ready = replace(branch_draft, branch=replace(branch, columns=session.columns))
    line = ready.line(place, writing.now)
    return write(session, OperationKind.SUMMARY_MOVE, line, target, writing, landing(session, target))
