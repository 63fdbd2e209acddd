"""How rows of the chain are told by their bytes: what a transcript is made of for the most part, without decoding it.

A row is an opening, the value of its message or attachment, and a closing. Openings and closings hardly differ from row to row,
so each is decoded once, and what it says is known by its bytes from then on. What lies between is skipped: only where it ends
is looked for. That holds because a string's quotes are escaped, and because the keys of a closing are followed by one brace:
were they inside another object, a second one followed. Whatever differs in anything is decoded whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.records import TORN, Needle, Role
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.session.entries import Body

CHAINED = b'{"parentUuid":"'
NAME = 36
"""Bytes of an id as it is written."""
ABOVE = len(CHAINED)
"""Where in a row of the chain the id of its parent stands."""
OPENING = ABOVE + NAME

IN_CHAIN, ASIDE = 32, 64
"""What is added to the role of a row that was told."""
# Plain numbers: a member of an enumeration costs several times as much to hash or to add.
_PROMPT_ROLE, _RESULT_ROLE, _REPLY_ROLE = int(Role.PROMPT), int(Role.RESULT), int(Role.REPLY)
_FURTHER_ROLE, _ATTACHED_ROLE = int(Role.FURTHER), int(Role.ATTACHED)
_QUIET_ROLE, _INJECTED_ROLE = int(Role.QUIET), int(Role.INJECTED)

_FACTS = ("sessionId", "cwd", "version", "gitBranch", "agentId", "forkedFrom", "requestSessionId")
"""Keys that say something of the session."""
_OF_THE_ROW = frozenset(
    {
        "uuid", "parentUuid", "isSidechain", "type", "subtype", "message", "attachment", "rendered", "content",
        "isMeta", "isCompactSummary", "origin",
    }
)  # fmt: skip
"""Keys that say what the row itself is."""
_AHEAD = frozenset({"isSidechain", "type"})
_KNOWN = 256
"""Different openings, and closings, that are remembered."""
_LONG = 2_000
"""Bytes from which they are not: they hold more than what most rows say."""

_USER, _REPLY, _ATTACHMENT = range(3)
_TYPES = {
    ("message", "user"): _USER,
    ("message", "assistant"): _REPLY,
    ("message", None): _REPLY,
    ("attachment", None): _ATTACHMENT,
}
_VARYING = re.compile(rb'(?<=,)"(?:promptId":"[^"\\]*+",|timestamp":"[^"\\]*+",(?="message":\Z))')
"""What of an opening differs from row to row, and says nothing of it."""

_STAMPED = b'","timestamp":"'
_STAMP = len(_STAMPED) + 23
"""Bytes from the end of an id to the last letter of the time behind it."""
_SAID_BY_USER = b'{"role":"user","content":'
_TEXT, _BLOCKS = ord('"'), ord("[")
_PLAIN = frozenset(b"ABDEFGHIJKLMNOPQRSTUVWXYZabdefghijklmnopqrstuvwxyz0123456789")
"""What a prompt begins with that cannot be anything else than one."""
_UNKNOWN_COMMAND = b"Unknown s"
"""How the answer to a command begins that Claude Code does not know: as a prompt may."""
_PROMPT_ENDS = b'"},"'
_RESULT_ENDS = b'}]},"uuid":"'
_UUID = b'uuid":"'
_RESULT = b'"type":"tool_result"'
_CALL = b'"tool_use_id":"'
_RETURN = b'Z","toolUseResult":'
_RETURNED = Needle(_RETURN, b"U")
_CALLED = b',"sourceToolAssistantUUID":"'
_NOTHING_RETURNED = frozenset({b'Z"', b'Z","sandboxed":false', b'Z","sandboxed":true'})
_SANDBOXED = (b',"sandboxed":false', b',"sandboxed":true')
_BRACE = ord("}")
_CLOSES = frozenset(b"}]")
_COPY = b'"messageUuid":'
_COPIED = b'","messageUuid":"'
_COPY_ENDS = len(_COPY) + NAME + 2
_ATTACHED = b'},"type":"attachment","uuid":"'
_SILENT = b'{"type":"prompt_snapshot"'
_RENDERED = b'Z","rendered":[{"content":"'
_RENDERED_ENDS = b'}],"renderedRole":"'
_QUOTE = ord('"')
_MODEL = rb'"model":"[^"\\<]*+",'
_NAMED = re.compile(
    rb"\{(?:" + _MODEL + rb')?"id":"([^"\\]++)","type":"message","role":"assistant",(?:' + _MODEL + rb')?"content":\['
)  # fmt: skip
"""How the message of a reply begins; the made up model of one that nobody gave is none."""
_ANSWERED = re.compile(
    rb'\}(?:,"thinkingDurationMs":[0-9]++)?+(?:,"thinkingDisplay":"[^"\\]*+")?+(?:,"toolInputStreamMs":[0-9]++)?+'
    rb'(?:,"apiBlockIndex":[0-9]++)?+(?:,"request(?:Ref|Id)":"[^"\\]*+")?+(?:,"requestedModel":"[^"\\]*+")?+'
    rb'(?:,"promptCacheRequested":"[^"\\]*+")?+(?:,"attributionAgent":"[^"\\]*+")?+(?:,"type":"assistant")?+'
    rb',"uuid":"([^"]{36})(?:","timestamp":"[^"\\Z]*+)?+'
)
_SYSTEM = re.compile(
    rb'","isSidechain":false,"type":"system","subtype":"(?:turn_duration",(?:"(?:durationMs|messageCount)":[0-9.]++,)*+'
    rb'|(local_command)","content":"[^"\\]*+(?:\\.[^"\\]*+)*+","level":"[^"\\]*+",)"timestamp":"[^"\\]*+",'
    rb'"uuid":"([^"]{36})(?=","isMeta":false,)'
)
_META = len(b'","isMeta":false')
_SYSTEM_ROW = b'","isSidechain":false,"type":"system",'
_NO_REPLY = b"\n"
_HUMAN = {"kind": "human"}


class RowFacts(NamedTuple):
    """What an opening or a closing says of the session; the same value for all that say the same."""

    body: Body
    copied: bool
    """The row was copied from another session."""


class Opening(NamedTuple):
    """What a row says before its message or attachment."""

    kind: int
    code: int
    """`IN_CHAIN`, on a side line also `ASIDE`."""
    facts: RowFacts


_UNSEEN = Opening(-1, 0, RowFacts({}, copied=False))

KnownRow = tuple[int, bytes, Opening, RowFacts]
"""What is known of a row: its role, its id as it is written, its opening, and what its closing says."""


_Place = tuple[int, int, int, int]
"""The role of a row, where its id stands, where its closing begins, and from where on another row may still begin in it."""
_NOWHERE = (0, 0, 0, 0)


class Shapes:
    """Tells rows of the chain by their bytes."""

    def __init__(self) -> None:
        self._known: dict[str, RowFacts] = {}
        self._openings: dict[bytes, Opening | None] = {}
        self._closings: dict[bytes, RowFacts | None] = {}
        self._plain = Opening(_USER, IN_CHAIN, self._facts_of({}, side=False))
        self.reply = b""
        """The id of the reply told last."""
        self._reply_begins, self._reply_code = _NO_REPLY, 0

    def known_row(self, data: bytes, start: int, end: int) -> KnownRow | None:
        """A row that begins as those of the chain do; None where it differs in anything."""
        value = data.find(b"{", start + OPENING, end)
        if value < 0:
            return self._system(data, start, end)
        opening = self._openings.get(data[start + OPENING : value], _UNSEEN)
        if opening is _UNSEEN:
            if data.startswith(_SYSTEM_ROW, start + OPENING):
                return self._system(data, start, end)
            opening = self._opening(data[start + OPENING : value])
        if opening is None:
            return None
        if opening.kind == _REPLY:
            role, at, behind, seen = self._reply(data, value, end, opening.code)
        elif opening.kind == _ATTACHMENT:
            role, at, behind, seen = self._attached(data, value, end)
        else:
            role, at, behind, seen = self._user(data, value, end)
        if not at or TORN.first(data, seen, behind) >= 0:
            return None
        name, closing = data[at : at + NAME], data[behind:end]
        behind_message = self._closings.get(closing) or self._closing(closing, name)
        return (role, name, opening, behind_message) if behind_message is not None else None

    def interrupt(self) -> None:
        """Something else is said: what follows of the same reply does not simply go on."""
        self._reply_begins = _NO_REPLY

    def _reply(self, data: bytes, value: int, end: int, code: int) -> _Place:
        last = data.rfind(b'},"', value, end)
        found = _ANSWERED.match(data, last, end)
        if found is None or data[last - 1] == _QUOTE:
            return _NOWHERE
        at, behind = found.start(1), found.end()
        if data.startswith(self._reply_begins, value) and code == self._reply_code:
            return _FURTHER_ROLE, at, behind, value
        begins = _NAMED.match(data, value, end)
        if begins is None:
            return _NOWHERE
        self._reply_begins, self._reply_code, self.reply = begins[0], code, begins[1]
        return _REPLY_ROLE, at, behind, value

    def _attached(self, data: bytes, value: int, end: int) -> _Place:
        at = data.find(_ATTACHED, value, end)
        if at < 0 or data.startswith(_COPY, at - _COPY_ENDS + 1):
            return _NOWHERE
        at += len(_ATTACHED)
        if not data.startswith(_STAMPED, at + NAME):
            return _NOWHERE
        behind = at + NAME + _STAMP
        if data.startswith(_SILENT, value):
            return _QUIET_ROLE, at, behind, value
        words_begin = behind + len(_RENDERED)
        if not data.startswith(_RENDERED, behind) or data[words_begin] == _QUOTE:
            return _NOWHERE
        behind = data.rfind(_RENDERED_ENDS, words_begin, end)
        return (_ATTACHED_ROLE, at, behind + len(_RENDERED_ENDS), value) if behind >= 0 else _NOWHERE

    def _user(self, data: bytes, value: int, end: int) -> _Place:
        if not data.startswith(_SAID_BY_USER, value):
            return _NOWHERE
        value += len(_SAID_BY_USER)
        if data[value] == _BLOCKS:
            return self._result(data, value, end)
        plain = data[value] == _TEXT and data[value + 1] in _PLAIN
        if not plain or data.startswith(_UNKNOWN_COMMAND, value + 1):
            return _NOWHERE
        at = data.find(_PROMPT_ENDS, value, end) + len(_PROMPT_ENDS) + len(_UUID)
        if not (data.startswith(_UUID, at - len(_UUID)) and data.startswith(_STAMPED, at + NAME)):
            return _NOWHERE
        self.interrupt()
        return _PROMPT_ROLE, at, at + NAME + _STAMP, value

    def _result(self, data: bytes, value: int, end: int) -> _Place:
        """A row with the result of one call."""
        block = value + 2
        if data.startswith(_CALL, block):
            block = data.find(b'"', block + len(_CALL), end) + 2
        behind = _RETURNED.before(TORN, data, block, end)
        if behind is None:
            return _NOWHERE
        if behind >= 0:
            at = behind - _STAMP - NAME
        else:
            at = data.find(_RESULT_ENDS, block, end) + len(_RESULT_ENDS)
            behind = at + NAME + _STAMP
        if not (
            data.startswith(_RESULT, block)
            and data.rfind(_RESULT, block + 1, at) < 0
            and data.startswith(_RESULT_ENDS, at - len(_RESULT_ENDS))
            and data.startswith(_STAMPED, at + NAME)
        ):
            return _NOWHERE
        called = data.rfind(_CALLED, behind, end)
        if not data.startswith(_RETURN, behind):
            if called < 0:
                return _RESULT_ROLE, at, behind, behind
            if data[behind:called] not in _NOTHING_RETURNED:
                return _NOWHERE
            return _RESULT_ROLE, at, called + len(_CALLED) + NAME, behind
        last = called if called >= 0 else end - 1
        for one in _SANDBOXED:
            if data.endswith(one, behind, last):
                last -= len(one)
        if (
            data[end - 1] != _BRACE
            or data[last - 1] not in _CLOSES
            or data.startswith(_COPY, last - _COPY_ENDS)
        ):
            return _NOWHERE
        # Claude Code 2.0 has what the programs see last.
        return _RESULT_ROLE, at, called + len(_CALLED) + NAME if called >= 0 else end - 1, behind

    def _system(self, data: bytes, start: int, end: int) -> KnownRow | None:
        found = _SYSTEM.match(data, start + OPENING, end)
        if found is None or TORN.first(data, start + OPENING, end) >= 0:
            return None
        role = _INJECTED_ROLE if found[1] else _QUIET_ROLE
        behind_message = self._closing(b'"' + data[found.end() + _META : end], found[2])
        return (role, found[2], self._plain, behind_message) if behind_message is not None else None

    # --- openings and closings, decoded once ---

    def _opening(self, opening: bytes) -> Opening | None:
        """What an opening says; None where it is to be decoded with its row."""
        if len(opening) > _LONG:
            return None
        plain = _VARYING.sub(b"", opening)
        if len(self._openings) >= _KNOWN:
            self._openings.clear()
        if plain not in self._openings:
            self._openings[plain] = self._opened(plain)
        found = self._openings[opening] = self._openings[plain]
        return found

    def _opened(self, opening: bytes) -> Opening | None:
        body = decode_line(b'{"":"%b0}' % opening)
        if body is None or not opening.startswith(b'","') or not isinstance(body.get("isSidechain"), bool):
            return None
        last = next(reversed(body))
        kind = _TYPES.get((last, body.get("type")))
        if kind is None or not body.keys() & _OF_THE_ROW <= _AHEAD | {last}:
            return None
        side = body["isSidechain"]
        return Opening(kind, IN_CHAIN + side * ASIDE, self._facts_of(body, side=side))

    def _closing(self, closing: bytes, name: bytes) -> RowFacts | None:
        """What a closing says; None where it is to be decoded with its row."""
        if len(closing) > _LONG:
            return None
        own = closing
        if closing.endswith(b'"}}'):
            # Copies name the row they were made of, which has the same id.
            known, written, rest = closing.rpartition(_COPIED)
            if written and rest == name + b'"}}':
                own = known
        if own not in self._closings:
            if len(self._closings) >= _KNOWN:
                self._closings.clear()
            self._closings[own] = self._closed(closing)
        return self._closings[own]

    def _closed(self, closing: bytes) -> RowFacts | None:
        body = decode_line(b'{"":"' + closing) if closing != b"}" else {}
        if body is None or not body.keys() & _OF_THE_ROW <= {"origin"}:
            return None
        if body.get("origin", _HUMAN) != _HUMAN:
            return None
        return self._facts_of(body, side=False)

    def _facts_of(self, body: Body, *, side: bool) -> RowFacts:
        facts = {key: body[key] for key in _FACTS if key in body}
        if side and "agentId" in facts:
            facts["isSidechain"] = True
        copied = "forkedFrom" in facts or "requestSessionId" in facts
        if len(self._known) >= _KNOWN:
            self._known.clear()
        return self._known.setdefault(repr(facts), RowFacts(facts, copied))
