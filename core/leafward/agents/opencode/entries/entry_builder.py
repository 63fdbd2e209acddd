"""Entries made from messages and their parts.

A message of a user is one entry, with one more ahead or behind for opencode's own additions to it. A reply is one entry, and the
result of each call is another one. Version 0.5 stores all replies to a prompt in one message: each step of it is a reply.
Messages that a revert deleted hang at their original place; messages that a revert hides for now hang beside a marker. Pruned outputs become context edits at the time of pruning, and a context edit takes out failed replies,
and with a compaction that failed what it was not to keep.
"""

from __future__ import annotations

from array import array
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.opencode.entries.parts import (
    PART_TYPES,
    asked_in,
    is_of_command,
    is_put,
    is_sent,
    is_typed,
    steps_in,
    typed_in,
)
from leafward.agents.opencode.entries.roles import EDITS, KINDS, OF_ITS_OWN, OF_PARTS, Role
from leafward.agents.opencode.entries.spoken_message import SpokenMessage
from leafward.agents.opencode.storage import newer_engine as newer
from leafward.agents.opencode.storage.records import NEVER, number_in
from leafward.session.columns import ID_SIZE, Columns
from leafward.session.entries import Damage, EntryIndex, object_at, text_at
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.opencode.storage.records import MessageRecord, StoredRow
    from leafward.agents.opencode.storage.spool import Records
    from leafward.session.entries import Body

_NO_ID = bytes(ID_SIZE)
_NOT_LEFT_OUT = EDITS | {Role.SYSTEM}
_OF_USER = frozenset({Role.USER, Role.INJECTED, Role.ADDED, Role.REQUEST, Role.COMMAND})


class EntryNames(NamedTuple):
    """The ids of the entries of a session, which are read in one piece sooner than one by one."""

    ids: str
    """A line for each."""
    first: array[int]
    """The entries of messages that have the message's own id."""
    others: dict[str, int]
    """The first entries of all other messages."""


class EntryBuilder:
    """Makes the columns of one session, message by message in the order of time."""

    def __init__(
        self, records: Records, *, hide_from: str = "", hide_part: str = "", tail_first: bool = False
    ) -> None:
        self.records = records
        self.tail_first = tail_first
        """Whether a compaction's kept messages are sent before its summary."""
        self.columns = Columns()
        self.role = bytearray()
        self.message = array("i")
        """The record of the message that an entry belongs to."""
        self.low = array("i")
        self.high = array("i")
        """The records of its parts: the first, and the one behind the last."""
        self.aux = array("i")
        """The entry that asked for a summary; -1 for none."""
        self.targets: dict[int, list[int]] = {}
        """The entries that an edit concerns."""
        self.steps: set[int] = set()
        """Replies that are one of several steps in one stored message."""
        self.stored: dict[int, int] = {}
        """By the record of a message, the row from which it was made, unless the message itself is stored."""
        self.kept: dict[int, int] = {}
        """Of a compaction that keeps a tail: its first entry; -1 where that is missing, and all is kept (opencode)."""
        self.begins = array("i")
        """The first entry of each existing message."""
        self.times = array("q")
        """The time of each of these messages."""
        self.tip = -1
        """The end of the visible conversation."""
        self._newer = False
        self._other_tip = -1
        """The end of the conversation of the engine that did not speak last."""
        self.leaf = -1
        self.hidden = 0
        """Messages that a revert hides."""
        self.part_missing = False
        """Whether a revert names a part that its message does not have."""
        self.removed = 0
        """Messages that were deleted."""
        self.folder = ""
        """The working folder of the first reply."""
        self.unknown: dict[str, int] = {}
        """Unknown roles and types of parts, with their numbers."""
        self.first_unknown = -1
        self.dangling: list[tuple[int, str]] = []
        """Compactions whose kept tail begins with a missing message."""
        self._hide_from, self._hide_part = hide_from, hide_part
        self._hiding = False
        self._names: set[str] = set()
        self._first: dict[str, int] = {}
        self._requests: dict[str, tuple[int, str]] = {}
        self._asked: list[str] = []
        """The texts of the last prompt."""
        self._too_long: set[int] = set()
        """Requests for a summary because a provider refused a prompt as too long: opencode puts that prompt again behind the summary."""
        self._pruned: list[tuple[int, int, int]] = []
        self._unfinished: list[tuple[str, int, int]] = []
        self._course: list[tuple[int, int]] = []
        """The last entry of each message so far, and the number of the event that deleted it."""

    # --- entries ---

    def _entry(
        self, role: Role, name: str, parent: int, message: int, low: int, high: int, aux: int = -1
    ) -> int:
        columns = self.columns
        index = len(columns.kind)
        if name in self._names:
            name = f"{name}@{index}"
        self._names.add(name)
        columns.kind.append(KINDS[role])
        if len(name) == ID_SIZE and name.isascii():
            columns.ids += name.encode("ascii")
        else:
            columns.ids += _NO_ID
            columns.other_ids[index] = name
        columns.parent.append(parent)
        columns.start.append(self._start(role, message, low))
        self.role.append(role)
        self.message.append(message)
        self.low.append(low)
        self.high.append(high)
        self.aux.append(aux)
        return index

    def _start(self, role: Role, message: int, low: int) -> int:
        """Offset of an entry in the spool: never before the entry ahead of it."""
        records, starts = self.records, self.columns.start
        if role in EDITS:
            return records.spool.size
        start = records.start[low if role in OF_PARTS else message]
        return max(start, starts[-1]) if starts else start

    def system(self, message: MessageRecord) -> None:
        """Adds the system prompt, which versions before 0.6 stored in every reply."""
        record = self.records.add(message.message)
        self.tip = self._entry(
            Role.SYSTEM, f"{message.message.id}-system", self.tip, record, record + 1, record + 1
        )

    def take(self, record: MessageRecord) -> None:
        """Adds a message with its parts."""
        body = decode_line(record.message.data)
        if record.removed < NEVER:
            self._take_removed(record, body)
            return
        self._turn_to(record)
        created = record.message.created
        starts_hiding = not self._hiding and bool(self._hide_from) and record.message.id == self._hide_from
        self._interrupt()
        self._edits_until(NEVER if starts_hiding else created)
        split = len(record.parts)
        if starts_hiding:
            self._hiding = True
            split = self._split(record)
            if not split:
                self._stand_here()
        if self._hiding and not (starts_hiding and split and split == len(record.parts)):
            self.hidden += 1
        shown = record.parts[:split] if starts_hiding and split else record.parts
        self.begins.append(len(self.columns))
        self.times.append(created)
        tip = self._message(record, body, shown, self.tip)
        if starts_hiding and split:
            self.tip = tip
            self._interrupt()
            self._edits_until(NEVER)
            self._stand_here()
            tip = self.tip
        if starts_hiding and 0 < split < len(record.parts):
            rest = record._replace(message=record.message._replace(id=f"{record.message.id}-hidden"))
            tip = self._message(rest, body, record.parts[split:], tip)
        self.tip = tip
        self._course.append((tip, NEVER))

    def _turn_to(self, record: MessageRecord) -> None:
        """Switches to the conversation of a message's engine: each engine sends its own messages only, so there are two."""
        is_newer = record.stored is not None
        if is_newer != self._newer:
            self._interrupt()
            self._newer = is_newer
            self.tip, self._other_tip = self._other_tip, self.tip

    # --- going on from an earlier reading ---

    def names(self) -> EntryNames:
        """The ids of all entries, and the first entry of each message."""
        ids = [self.columns.id(EntryIndex(entry)) for entry in range(len(self.columns))]
        others = {name: entry for name, entry in self._first.items() if ids[entry] != name}
        first = array("i", (entry for name, entry in self._first.items() if name not in others))
        return EntryNames("\n".join(ids), first, others)

    @contextmanager
    def bare(self) -> Iterator[None]:
        """Lets go of all that is taken or found again, or needed no more: names, records, texts, and the course of messages."""
        columns, held = self.columns, (self.records, self._asked, self._course, self._names, self._first)
        other_ids, columns.other_ids = columns.other_ids, {}
        del self.records
        self._asked, self._course, self._names, self._first = [], [], set(), {}
        try:
            yield
        finally:
            columns.other_ids = other_ids
            self.records, self._asked, self._course, self._names, self._first = held

    def take_names(self, names: EntryNames) -> None:
        """Takes the names that `bare` let go of."""
        columns, ids = self.columns, names.ids.split("\n")
        columns.other_ids = dict(enumerate(ids))
        if columns.ids.count(0) < len(columns.ids):
            for entry in range(len(ids)):
                if columns.ids[entry * ID_SIZE : (entry + 1) * ID_SIZE] != _NO_ID:
                    del columns.other_ids[entry]
        self._names = set(ids)
        self._first = {ids[entry]: entry for entry in names.first} | names.others

    def go_on(self, records: Records, hide_from: str, hide_part: str) -> bool:
        """Goes on behind the messages of an earlier reading; False where a revert begins among them."""
        if hide_from in self._first:
            return False
        self.records, self._hide_from, self._hide_part = records, hide_from, hide_part
        prompt = self.role.rfind(Role.USER)
        if prompt >= 0:
            self._asked = typed_in(map(decode_line, records.several(self.low[prompt], self.high[prompt])))
        return True

    def is_prompt(self, record: int) -> bool:
        """Whether a record is the message of entries that do not look at it, but at its parts: one of the user's."""
        return record in self.message and self.role[self.message.index(record)] in _OF_USER

    def prune(self, record: int, time: int) -> bool:
        """Notes that the output of a call was pruned at a time; False where the record has no output."""
        for entry in range(len(self.low)):
            if self.low[entry] == record and self.role[entry] == Role.RESULT:
                self._pruned.append((time, entry, record))
                return True
        return False

    def _split(self, record: MessageRecord) -> int:
        """The number of parts that stay visible in the message where a revert begins: all where it names a missing part (opencode)."""
        if not self._hide_part:
            return 0
        names = [part.id for part in record.parts]
        self.part_missing = self._hide_part not in names
        return len(names) if self.part_missing else names.index(self._hide_part)

    def _stand_here(self) -> None:
        """Makes the tip the leaf: the following messages are hidden."""
        self.leaf = self.tip

    def _take_removed(self, record: MessageRecord, body: Body | None) -> None:
        above, goes_on = -1, False
        for tip, removed in reversed(self._course):
            if removed > record.begun:
                above, goes_on = tip, removed == NEVER
                break
        if goes_on and record.stored is None and not self._newer:
            # What was pruned before it was so on both sides of the branch point.
            self._edits_until(record.message.created)
            above = self.tip
        self.removed += 1
        self._course.append((self._message(record, body, record.parts, above, live=False), record.removed))

    def marked(self, revert: StoredRow) -> None:
        """Marks, at the leaf, that the following messages were taken back and are not deleted yet."""
        record = self.records.add(revert)
        if self.leaf >= 0:
            self.leaf = self._entry(Role.REVERT, revert.id, self.leaf, record, record + 1, record + 1)

    def end(self) -> None:
        """Ends the session."""
        self._edits_until(NEVER)
        if not self._hiding:
            self.leaf = self.tip

    def _interrupt(self) -> None:
        """Gives calls that will never end, because the conversation continued, the result that opencode sends for them."""
        for name, message, part in self._unfinished:
            self.tip = self._entry(Role.RESULT, name, self.tip, message, part, part + 1)
        self._unfinished.clear()

    def _edits_until(self, moment: int) -> None:
        """Takes outputs out of the context that were pruned before a time."""
        if not self._pruned:
            return
        due = sorted((target, part) for time, target, part in self._pruned if time < moment)
        self._pruned = [one for one in self._pruned if one[0] >= moment]
        if due:
            target, part = due[0]
            name = f"{self.columns.id(target)}-pruned"
            self.tip = self._entry(Role.PRUNED, name, self.tip, self.message[target], part, part + 1)
            self.targets[self.tip] = [one for one, _ in due]

    # --- messages ---

    def _message(
        self,
        stored: MessageRecord,
        body: Body | None,
        parts: list[StoredRow],
        above: int,
        *,
        live: bool = True,
    ) -> int:
        """Adds the entries of a message; returns the parent for the next one, which is never a broken entry."""
        record = self.records.add(stored.message)
        for part in parts:
            self.records.add(part)
        high = record + 1 + len(parts)
        if stored.stored is not None:
            self.stored[record] = self.records.add(stored.stored)
        first = len(self.columns)
        name = stored.message.id
        if body is None:
            broken = self._entry(Role.BROKEN, name, above, record, record + 1, high)
            self.columns.damage[broken] = Damage.MALFORMED
            tip = above
        else:
            spoken = SpokenMessage(name, body, record, parts, [decode_line(part.data) for part in parts])
            role = body.get("role")
            if role == "user":
                tip = self._user(spoken, above)
            elif role == "assistant":
                tip = self._reply(spoken, above, live=live)
            elif isinstance(role, str) and role in OF_ITS_OWN:
                tip = self._whole(OF_ITS_OWN[role], spoken, above)
            else:
                tip = self._whole(Role.OTHER, spoken, above)
                self._strange(f"role {role}", tip)
            tip = self._others(spoken, tip)
        if live:
            self._first.setdefault(name, first)
        return tip

    def _whole(self, role: Role, spoken: SpokenMessage, above: int, aux: int = -1) -> int:
        """Adds one entry for a message with all its parts."""
        return self._entry(role, spoken.name, above, spoken.record, spoken.low, spoken.high, aux)

    def _part(self, role: Role, spoken: SpokenMessage, place: int, above: int, stop: int = -1) -> int:
        """Adds an entry for one part of a message, or for those from it to another one."""
        low = spoken.low
        end = low + (stop if stop >= 0 else place + 1)
        return self._entry(role, spoken.parts[place].id, above, spoken.record, low + place, end)

    def _user(self, spoken: SpokenMessage, above: int) -> int:
        decoded = spoken.decoded
        request = next((part for part in decoded if part and part.get("type") == "compaction"), None)
        if request is not None:
            tip = self._whole(Role.REQUEST, spoken, above)
            self._requests[spoken.name] = tip, text_at(request, "tail_start_id")
            if request.get("overflow") is True:
                self._too_long.add(tip)
            return tip
        typed = [place for place, part in enumerate(decoded) if part is not None and is_typed(part)]
        put = [place for place, part in enumerate(decoded) if part is not None and is_put(part)]
        if put and not typed:
            role = Role.ADDED if spoken.body.get(newer.BESIDE) else Role.INJECTED
            parts = [part for part in decoded if part is not None]
            if role is Role.INJECTED and (is_of_command(parts) or asked_in(parts)):
                role = Role.COMMAND
            return self._whole(role, spoken, above)
        asked = typed_in(decoded)
        if (
            above >= 0
            and self.role[above] == Role.SUMMARY
            and self.aux[above] in self._too_long
            and asked == self._asked
        ):
            return self._whole(Role.INJECTED, spoken, above)
        self._asked = asked
        ahead = [place for place in put if place < typed[0]] if typed else []
        if ahead:
            above = self._entry(
                Role.ADDED, spoken.parts[ahead[0]].id, above, spoken.record, spoken.low, spoken.low + typed[0]
            )
        tip = self._whole(Role.USER, spoken, above)
        behind = put[len(ahead) :]
        return self._part(Role.ADDED, spoken, behind[0], tip, len(decoded)) if behind else tip

    def _reply(self, spoken: SpokenMessage, above: int, *, live: bool) -> int:
        body = spoken.body
        if not self.folder:
            self.folder = text_at(object_at(body, "path"), "cwd")
        summary_request = self._requests.get(text_at(body, "parentID"))
        if self._summarises(body, summary_request is not None):
            request, tail = summary_request or (-1, "")
            tip = self._whole(Role.SUMMARY, spoken, above, request)
            if tail:
                kept = self._first.get(tail, -1)
                if kept < 0:
                    self.dangling.append((tip, tail))
                self.kept[tip] = kept
            return tip
        tip, said = above, list[int]()
        steps = steps_in(spoken.decoded)
        for begin, stop in pairwise([*steps, len(spoken.parts)]):
            name = spoken.parts[begin].id if begin else spoken.name
            tip = self._entry(Role.REPLY, name, tip, spoken.record, spoken.low + begin, spoken.low + stop)
            if len(steps) > 1:
                self.steps.add(tip)
            said.append(tip)
            for place in range(begin, stop):
                tip, result = self._result(spoken, place, tip, live=live)
                said += result
        left_out = [] if is_sent(body, spoken.decoded) else said
        if summary_request and body.get("summary") is True:
            left_out += self._before_tail(summary_request[1])
        if left_out:
            name = f"{spoken.name}-dropped"
            tip = self._entry(Role.DROPPED, name, tip, spoken.record, spoken.low, spoken.high)
            self.targets[tip] = left_out
        return tip

    def _result(self, spoken: SpokenMessage, place: int, above: int, *, live: bool) -> tuple[int, list[int]]:
        """Adds the result of a call; returns the parent for the next entry, and the entry of the result if there is one yet."""
        part = spoken.decoded[place]
        if part is None or part.get("type") != "tool":
            return above, []
        state, record = object_at(part, "state"), spoken.low + place
        if live and state.get("status") in ("pending", "running"):
            self._unfinished.append((spoken.parts[place].id, spoken.record, record))
            return above, []
        tip = self._part(Role.RESULT, spoken, place, above)
        pruned = number_in(object_at(state, "time"), "compacted")
        if pruned and live:
            self._pruned.append((pruned, tip, record))
        return tip, [tip]

    def _before_tail(self, tail: str) -> list[int]:
        """The entries before the tail that a compaction was to keep: opencode leaves them out though it has no summary.

        It stores where the tail begins also when the request for the summary failed, and goes by that (1.14.41 to 1.18.33).
        """
        kept = self._first.get(tail, -1)
        found: list[int] = []
        at = self.columns.parent[kept] if kept >= 0 and not self.tail_first else -1
        while at >= 0:
            if self.role[at] not in _NOT_LEFT_OUT:
                found.append(at)
            at = self.columns.parent[at]
        return found

    def _summarises(self, body: Body, by_request: bool) -> bool:
        """Whether a reply is a summary that replaces earlier messages: complete, without an error."""
        if body.get("summary") is not True or body.get("error"):
            return False
        if by_request:
            return bool(body.get("finish"))
        ended = body.get("finish") or object_at(body, "time").get("completed")
        return bool(ended) and not self._requests

    def _others(self, spoken: SpokenMessage, tip: int) -> int:
        """Adds entries for parts that are broken or of an unknown type."""
        for place, part in enumerate(spoken.decoded):
            if part is None:
                broken = self._part(Role.BROKEN_PART, spoken, place, tip)
                self.columns.damage[broken] = Damage.MALFORMED
            elif str(part.get("type")) not in PART_TYPES:
                tip = self._part(Role.PART, spoken, place, tip)
                self._strange(f"part {part.get('type')}", tip)
        return tip

    def _strange(self, name: str, entry: int) -> None:
        """Counts an unknown record."""
        self.unknown[name] = self.unknown.get(name, 0) + 1
        if self.first_unknown < 0:
            self.first_unknown = entry
