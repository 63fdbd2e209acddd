"""Entries made from lines of rollouts, and their links.

Every line belongs to one entry: lines that repeat or measure an entry lie in its stretch of the file. Entries follow each other;
a rollback goes back, and a segment begins where its base was cut.

Longer than other modules: each kind of line changes the same few facts (tip, model, waiting calls), and a rollback needs all
of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.call_ends import CallEnds
from leafward.agents.codex.entries.compaction_entries import CompactionEntries
from leafward.agents.codex.entries.current_path import START, Course, PathState
from leafward.agents.codex.entries.entry_ids import SegmentIds
from leafward.agents.codex.entries.items import effort_of, item_text, prompt_of
from leafward.agents.codex.entries.message_keys import MessageIndex
from leafward.agents.codex.entries.prompts import Prompts
from leafward.agents.codex.entries.records import (
    BEGINNING,
    BEGINS,
    CLOSE,
    COMPLETED,
    KINDS,
    Role,
    RolloutLine,
    headed,
    is_glued,
    line_at,
    line_of,
    name_of,
    payload_of,
)
from leafward.agents.codex.entries.responses import Responses
from leafward.agents.codex.entries.rollbacks import TAKES_CONTEXT_BACK, Rollbacks
from leafward.agents.codex.entries.settings import Contexts
from leafward.agents.codex.entries.tasks import task_of
from leafward.agents.storage.lines import seams
from leafward.session.columns import Columns
from leafward.session.entries import Damage, Kind
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.session.entries import Body

# Looked up once: members of an enumeration cost as much as the rest of a line's work.
_MESSAGE, _REPLY, _RESULT, _ECHO = Role.MESSAGE, Role.REPLY, Role.RESULT, Role.ECHO
_ANSWER, _COUNT, _USAGE, _QUIET, _BOOKS = Role.ANSWER, Role.COUNT, Role.USAGE, Role.QUIET, Role.BOOKS
_COMPLETED, _TURN, _STARTED = Role.COMPLETED, Role.TURN, Role.STARTED
_OF_REPLIES = frozenset({_REPLY, _ECHO, _COUNT, _QUIET})
"""Roles that may stand between a count and its reply."""
_ANYWHERE = frozenset({Role.UNKNOWN, Role.ASIDE})
"""Roles that tell nothing about the lines around them."""
_OTHER = frozenset(Role) - _OF_REPLIES - _ANYWHERE - {_MESSAGE}
"""Roles that may not; a message may turn out to be a reply."""
_PARTING = frozenset(Role) - _ANYWHERE - {_RESULT, _ANSWER}
"""Roles that separate a record about a call from the call's result."""
_USER, _TOOL_RESULT, _CUSTOM = Kind.USER, Kind.TOOL_RESULT, Kind.CUSTOM


class Dependence(Exception):  # not an error: a reader that knows the lines before reads this one
    """A line has no meaning without the lines before it."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at
        """Its offset."""


class EntryBuilder:
    """Makes the entries of one transcript."""

    def __init__(self, dependent: frozenset[Role] = frozenset()) -> None:
        """Lines of the roles in `dependent` raise Dependence; with `Role.UNKNOWN`, broken lines do too."""
        self.columns = Columns()
        self.parts: dict[int, int] = {}
        """Entries that share a line with others: their number in it, from 1."""
        self.models: list[tuple[int, str | None]] = []
        """The replying models, each with the entry from which on it replies."""
        self.system: str | None = None
        self.left_out: dict[int, tuple[int, ...]] = {}
        """Entries from which on others are sent no more."""
        self.begins_anew = False
        """Whether a turn was read that begins with the developer's context; also where that is the first line."""
        self.never_sent: set[int] = set()
        """Prompts of reviews: they are messages of another thread."""
        self.uncertain: set[int] = set()
        """Rollbacks behind which the file does not tell what Codex sends."""
        self.begun_anew: list[int] = []
        """Entries with which another conversation begins in the same file."""
        self.joined: list[int] = []
        """Entries with which the lines of another thread begin in the same file, which Codex sends with those before them."""
        self._described: object = None
        """The thread that the first description names."""
        self.unknown: dict[str, int] = {}
        """Unknown types of records, with their numbers."""
        self.first_unknown = -1
        self.within: dict[int, tuple[int, int]] = {}
        """Entries whose line stands within another entry, which continues behind it: offset and size of the line."""
        self.ends = CallEnds()
        self._messages = MessageIndex()
        self._prompts = Prompts()
        self._naming = SegmentIds()
        self._contexts = Contexts()
        self._begun: list[int] = []
        """Entries that mark the beginning of a turn."""
        self.course = Course()
        self.version = TAKES_CONTEXT_BACK
        """The second number of the version of Codex that began a segment."""
        self.responses = Responses(self.columns, self._prompts, self._add)
        self.compactions = CompactionEntries(self.columns, self._messages, self._add)
        self._rollbacks = Rollbacks(
            self.columns, self._messages, self.compactions, self._begun, self.never_sent
        )
        self.begin(0, "", START)
        self._dependent = dependent
        self.has_turns = False
        """Whether a turn's context was read."""

    # --- places ---

    def begin(self, start: int, segment: str, state: PathState) -> None:
        """Begins a segment at a byte, continuing from a state."""
        self.responses.unclaimed()
        self.link()
        self.start = start
        self.responses.begin(start, state.total)
        self._naming.begin(start, segment, self.columns)
        self._begins_from = state.path
        self.course = Course(state.path)
        self._rollbacks.begin(self.course)
        self.tip = self.course.tip
        self.model, self.effort = state.model, state.effort
        self._prompts.begin()
        self.compactions.ahead = ()
        self.ends.begin(start)
        self._effort_at = -1
        self._awaits_review = False
        if state.model is not None:
            self.models.append((len(self.columns), state.model))

    def begin_apart(self, total: int | None) -> None:
        """Begins behind unknown but settled lines; `total` tokens were counted there, None where usage is recorded."""
        self.responses.begin_apart(total)
        self._prompts.begin_apart()

    def state(self) -> PathState:
        """The state of the branch now."""
        self.link()
        return PathState(self.course.frozen(), self.model, self.effort, self.responses.total)

    def _add(self, kind: Kind, at: int, part: int = 0) -> int:
        columns = self.columns
        kinds = columns.kind
        index = len(kinds)
        columns.start.append(self.start + at)
        kinds.append(kind)
        if part:
            self.parts[index] = part
        self.tip = index
        return index

    def link(self) -> None:
        """Gives ids and parents to all entries made since the last call: each continues from the one before it.

        Call it before reading these entries, and before going back.
        """
        columns = self.columns
        first, stop = len(columns.parent), len(columns)
        if first == stop:
            return
        columns.parent.append(self.course.tip)
        columns.parent.extend(range(first, stop - 1))
        self.course.extend(first, stop)
        self._naming.name(columns, first, self.parts)

    @property
    def is_settled(self) -> bool:
        """Whether only a reply can still change the meaning of the lines read."""
        return self.ends.are_settled and self._prompts.are_settled

    @property
    def is_known(self) -> bool:
        """Whether no text of the lines read is needed for later ones, but that of the last reply."""
        return self.ends.are_settled and self._prompts.are_known

    @property
    def ends_in_result(self) -> bool:
        """Whether the last entry is the output of a call."""
        return self.ends.stand_at(self.tip)

    def extend(self, others: EntryBuilder) -> None:
        """Adds the entries of the next lines, which were made apart and follow from here."""
        columns, base = self.columns, len(self.columns)
        start = self.start
        columns.start.extend(map(start.__add__, others.columns.start) if start else others.columns.start)
        columns.kind += others.columns.kind
        self.parts.update((base + index, part) for index, part in others.parts.items())
        self.models.extend((base + index, model) for index, model in others.models)
        if others.has_turns:
            self.model, self.effort = others.model, others.effort
        if others._effort_at >= 0:
            self._effort_at = base + others._effort_at
        self._begun.extend(base + index for index in others._begun)
        self.ends.extend(others.ends, base)
        self._messages.extend(others._messages, base)
        self._prompts.extend(others._prompts, base)
        self.responses.extend(others.responses, base)
        if others.columns.kind:
            self.tip = len(columns) - 1
        self.link()

    def broken(self, at: int) -> None:
        """Adds a piece that is not a record: it hangs on the entry before it, and nothing hangs on it."""
        self.responses.unclaimed()
        self.link()
        columns = self.columns
        index = len(columns)
        columns.start.append(self.start + at)
        columns.kind.append(Kind.MALFORMED)
        columns.parent.append(self.tip)
        columns.ids.extend(bytes(8))
        columns.other_ids[index] = f"line@{self.start + at}"
        columns.damage[index] = Damage.MALFORMED
        self.responses.end()
        self.ends.waiting = None

    # --- lines ---

    def feed(self, data: bytes, stop: int, at: int) -> None:
        """Reads whole lines, `at` bytes into their segment, as `take` does, but without a value for each."""
        role_of, responses, ends = KINDS.get, self.responses, self.ends
        start = 0
        for lines, apart in headed(data, stop):
            for line, head in lines:
                place = at + start
                start += len(line)
                if head is None or line[-2] != CLOSE or (not apart and line.find(BEGINNING, 1) >= 0):
                    self.take(line, 0, len(line) - 1, place)
                    continue
                role, call = role_of(head[1]), None
                if role is _COMPLETED:
                    role, call = COMPLETED.get(head[2]), head[3]
                elif role is _MESSAGE and head[4] == b"assistant":
                    role = _REPLY
                elif role is _RESULT or role is _ANSWER:
                    call = head[5]
                if responses.waiting >= 0 and role in _OTHER:
                    responses.unclaimed()
                if ends.waiting is not None and role in _PARTING:
                    ends.put_aside()
                if role is _REPLY or role is _ECHO:
                    if responses.open and not responses.ahead and responses.items:
                        if role is _REPLY:
                            responses.items.append(line[:-1])
                    else:
                        responses.piece(line[:-1], place, item=role is _REPLY)
                elif role is _QUIET:
                    pass
                elif role is _COUNT and responses.recorded:
                    responses.repeat()
                elif role is _USAGE and responses.open:
                    responses.record()
                elif role is _RESULT and call is not None:
                    self._result(call.decode("utf-8", "replace"), place)
                elif role is _ANSWER and call:
                    ends.add(call.decode("utf-8", "replace"), place, len(line) - 1, self.tip)
                elif role is _TURN and (known := self._contexts.settings(line, 0, len(line) - 1)) is not None:
                    responses.end()
                    self._turned(known.model, known.effort, place)
                elif role is _BOOKS:
                    responses.end()
                    self._add(_CUSTOM, place)
                elif role is _STARTED:
                    responses.end()
                    self._other(role, {}, place)
                elif (body := decode_line(line[:-1])) is None:
                    self.take(line, 0, len(line) - 1, place)
                else:
                    self.record(line_of(body), place, line[:-1])
        self.link()

    def _result(self, call: str, at: int) -> None:
        """Adds the output of a call; a record about the call right before it belongs to it."""
        begin = self.ends.start_of(call, at)
        self.responses.result()
        self._prompts.waiting = []
        tip = self.tip
        self.ends.add_result(call, self._add(_TOOL_RESULT, begin), tip)

    def take(self, data: bytes, start: int, end: int, at: int) -> None:
        """Reads one line, `at` bytes into its segment."""
        if data[end - 1 : end] == b"\r" and end > start:
            end -= 1
        if end == start:
            return
        line = line_at(data, start, end)
        if line is None or (line.body is None and is_glued(data, start, end)):
            self._pieces(data, start, end, at)
            return
        self.record(line, at, data[start:end])

    def _check(self, role: Role, at: int) -> None:
        if role in self._dependent:
            raise Dependence(at)

    def _pieces(self, data: bytes, start: int, end: int, at: int) -> None:
        self._check(Role.UNKNOWN, at)
        for first, stop in seams(data, start, end, BEGINS):
            line = line_at(data, first, stop)
            place = at + first - start
            if line is None:
                if data[first:stop].strip():
                    self.broken(place)
                continue
            count = len(self.columns)
            self.record(line, place, data[first:stop])
            if first > start and self.columns.kind:
                # A record that begins no entry belongs to the one before it.
                at_entry = count if len(self.columns) > count else count - 1
                self.columns.damage.setdefault(at_entry, Damage.GLUED)

    def record(self, line: RolloutLine, at: int, raw: bytes) -> None:
        """Reads one record, given with its bytes."""
        role, body = line.role, line.body
        if role in _ANYWHERE:
            self._check(role, at)
            if role is Role.UNKNOWN:
                self._strange(body or {})
            self._aside(Kind.UNKNOWN if role is Role.UNKNOWN else Kind.CUSTOM, at, len(raw))
            return
        if self.responses.waiting >= 0 and role not in _OF_REPLIES:
            self.responses.unclaimed()
        if role is Role.RESULT:
            self._result(line.call or "", at)
            return
        if role in _PARTING:
            self.ends.put_aside()
        if role is Role.REPLY or role is Role.ECHO:
            self.responses.piece(raw, at, item=role is Role.REPLY)
        elif role is Role.ANSWER:
            if line.call is not None:
                self.ends.add(line.call, at, len(raw), self.tip)
        elif role is Role.COUNT:
            self.responses.count(payload_of(body or {}), at)
        elif role is Role.USAGE:
            self.responses.usage(at)
        elif role is Role.QUIET:
            return
        elif role is Role.PROMPT:
            self._prompt(payload_of(body or {}), at)
        else:
            self.responses.end()
            self._other(role, payload_of(body or {}), at)

    def _aside(self, kind: Kind, at: int, size: int) -> None:
        """Adds a line that tells nothing about those around it: whatever began before it continues behind it."""
        starts, place = self.columns.start, self.start + at
        follows_result = self.ends_in_result
        index = self._add(kind, at)
        if index and (self.ends.waiting is not None or follows_result or self.responses.is_unfinished):
            starts[index] = max(starts[index - 1], self.start)
            self.parts[index] = place - starts[index]
            self.within[index] = place, size
        if follows_result:
            self.ends.move_to(index)

    def _other(self, role: Role, payload: dict[str, Any], at: int) -> None:
        self._check(role, at)
        if role is Role.MESSAGE:
            self._message(payload, at)
        elif role is Role.TURN:
            self._turned(payload.get("model"), effort_of(payload), at)
        elif role is Role.COMPACTED:
            self._compacted(payload, at)
        elif role is Role.ROLLBACK:
            self._roll_back(payload.get("num_turns"), at)
        elif role is Role.META:
            self._meta(payload, at)
        elif role is Role.NAME:
            self._add(Kind.SESSION_INFO, at)
        elif role is Role.INJECTED:
            self._add(Kind.INJECTED if task_of(payload) is None else Kind.USER, at)
        else:
            if role is Role.REVIEW or role is Role.REVIEWED:
                self.responses.aside = self._awaits_review = role is Role.REVIEW
            elif role is Role.STARTED:
                self._begun.append(len(self.columns.kind))
                self.ends.begin_turn()
            self._add(Kind.CUSTOM, at)

    def _strange(self, body: Body) -> None:
        """Counts a record of an unknown type."""
        name = name_of(body)
        self.unknown[name] = self.unknown.get(name, 0) + 1
        if self.first_unknown < 0:
            self.first_unknown = len(self.columns)

    def _meta(self, payload: dict[str, Any], at: int) -> None:
        instructions = payload.get("base_instructions")
        text = instructions.get("text") if isinstance(instructions, dict) else None
        thread, later = payload.get("id"), at > 0 and not self.responses.partial
        anew = later and payload.get("history_mode") == "paginated"
        if anew:
            self._begin_anew()
        elif later and self.responses.reply >= 0 and self._described not in (None, thread):
            self.joined.append(len(self.columns))
        self._described = self._described or thread
        if (at == 0 or anew) and isinstance(text, str) and text and (anew or text != self.system):
            self.system = text
            self._add(Kind.SYSTEM, at)
        else:
            self._add(Kind.CUSTOM, at)

    def _begin_anew(self) -> None:
        """Goes back to where the segment began: of a paginated file Codex sends what stands behind its last description (0.153, 0.171)."""
        self.responses.unclaimed()
        self.settle()
        self.course = Course(self._begins_from)
        self.tip = self.course.tip
        self.model = self.effort = None
        self.begun_anew.append(len(self.columns))

    def _turned(self, model: object, effort: str | None, at: int) -> None:
        part = 0
        self.has_turns = True
        self.responses.aside = False
        if isinstance(model, str) and model != self.model:
            self.model = model
            self._add(Kind.MODEL_CHANGE, at)
            self.models.append((self.tip, model))
            part = 1
        if effort != self.effort:
            self.effort = effort
            self._effort_at = self._add(Kind.THINKING_CHANGE, at, part)
            part += 1
        if not part:
            self._add(Kind.CUSTOM, at)

    # --- messages ---

    def _message(self, payload: dict[str, Any], at: int) -> None:
        index, text = len(self.columns.kind), item_text(payload)
        developer = payload.get("role") == "developer"
        anew = developer and self._begun[-1:] == [index - 1]
        self.begins_anew = self.begins_anew or anew or (developer and not index)
        kind = self._prompts.take(index, payload, text)
        if kind is not None:
            self._add(kind, at)
            self._messages.add(index, payload, text)
        if anew and self.compactions.ahead:
            # A newer version was resumed (0.116 to 0.171): it has nothing ahead of such a summary, and puts the context in here.
            self.left_out[self._add(Kind.CONTEXT_EDIT, at, 1)] = self.compactions.ahead
            self.compactions.ahead = ()

    def _prompt(self, payload: dict[str, Any], at: int) -> None:
        text = prompt_of(payload)
        if text is not None and self.responses.aside:
            # A review has a thread of its own. Its prompt is written twice (0.58 to 0.142).
            if self._awaits_review:
                self.never_sent.add(self._add(_USER, at))
                self._awaits_review = False
            return
        if text is None or self._prompts.typed(text, self.columns.kind):
            return
        self.responses.end()
        self._messages.add(self._add(_USER, at), {"role": "user"}, text)

    def settle(self) -> None:
        """Makes every message that does not look injected the user's, where no event records the typed text."""
        self.link()
        self._prompts.settle(self.columns.kind)

    # --- going back, and compactions ---

    def _roll_back(self, turns: object, at: int) -> None:
        """Goes back, and adds the entry of the rollback, with an edit for what is left of a compaction behind it."""
        left = turns if isinstance(turns, int) and not isinstance(turns, bool) else 0
        if left <= 0:
            self._add(Kind.CUSTOM, at)
            return
        self.link()
        done = self._rollbacks.take(left, self.course, self.version)
        self.tip = self.course.tip
        if self.models and not self.course.holds(self.models[-1][0]):
            self.model = None
        if self._effort_at >= 0 and not self.course.holds(self._effort_at):
            self.effort = None
        index = self._add(Kind.CUSTOM, at)
        if done.uncertain:
            self.uncertain.add(index)
        if done.left_out:
            self.left_out[self._add(Kind.CONTEXT_EDIT, at, 1)] = done.left_out

    def _compacted(self, payload: dict[str, Any], at: int) -> None:
        self.settle()
        self.compactions.read(payload, at, self.course)
