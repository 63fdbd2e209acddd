"""All secrets of a text, in documents and in bytes: the rules of this room, applied together."""

from __future__ import annotations

import binascii
import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from leafward.base.late_pattern import late
from leafward.redaction.as_seen import as_seen
from leafward.redaction.names import meaning_of
from leafward.redaction.rules.assignments import assignments_in
from leafward.redaction.rules.aws_keys import bare_keys
from leafward.redaction.rules.commands import commands_in, password_files_in
from leafward.redaction.rules.cracked_hashes import cracked_in
from leafward.redaction.rules.encoded_texts import encoded_in
from leafward.redaction.rules.headers import headers_in
from leafward.redaction.rules.login_files import SIGNS as LOGIN_KEYS
from leafward.redaction.rules.login_files import is_login_token, login_tokens_in
from leafward.redaction.rules.named_files import file_read_by, lines_of, named_files_in
from leafward.redaction.rules.printed import lone_value, printed_in, prints_secret
from leafward.redaction.rules.private_keys import byte_lists_in, keys_in
from leafward.redaction.rules.provider_keys import KINDS, LEAST_RUN, tokens_in
from leafward.redaction.rules.recovery_codes import codes_in
from leafward.redaction.rules.repeated import note_distinct, places_of, with_repeated
from leafward.redaction.rules.sentences import sentences_in
from leafward.redaction.rules.spoken import spoken_in
from leafward.redaction.rules.tables import columns_in, inserted_in, unnamed_in
from leafward.redaction.rules.urls import urls_in
from leafward.redaction.rules.values_apart import apart_in
from leafward.redaction.rules.wallet_phrases import phrases_in
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.signs import (
    APART,
    ASSIGNMENTS,
    HEADERS,
    IN_SMALL_LETTERS,
    LOGIN_FILES,
    NAMED_FILES,
    OF_RULES,
    PORT,
    PORTS,
    RECOVERY_CODES,
    SENTENCES,
    SPOKEN,
    TABLES,
    WALLETS,
    commands_of,
    foreign_names,
    header_signs,
    keywords,
    literals_apart,
    names,
    signs_of,
    table_signs,
)
from leafward.redaction.spans import MARKER, SecretKind, merged

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterable, Iterator

    from leafward.redaction.spans import Span


_SHORTEST = 8
"""Characters below which a text holds no secret: a name, a sign and a value need more."""
_SHORTEST_KEY = 16
"""Characters below which the key of an object is taken for a name."""
_MOST_NAMED = 256
"""Most secrets that are looked for in other texts than the one that names them: each of them costs a search of every text."""
_SHORTEST_VALUE = 3
"""Characters below which a string under a key that names a secret is none."""

_PLAIN = late(r"(?:[0-9a-fA-F-]{1,36}|[0-9TZ:. +-]{1,40}|[a-z_]{1,40})\Z")
"""Ids, times, single words: most strings of a session."""
_LONGEST_PLAIN = 40
"""The most characters of such a string."""
_SHORT_WORD = late(rf"[A-Za-z0-9_]{{1,{LEAST_RUN - 1}}}\Z")
"""Ids of calls and names: too short for a token, and without the sign that any other secret has."""
_WORD = late(r"[A-Za-z0-9_]+\Z")
"""Longer ids and names: a token, or nothing, since no sign stands between a name and a value."""


def secrets_in(text: str) -> list[Span]:
    """The places of secrets in a text: begin and end in code points, and the kind. In order, without overlaps."""
    if len(text) <= _LONGEST_PLAIN and (
        len(text) < _SHORTEST or _PLAIN.match(text) or _SHORT_WORD.match(text)
    ):
        return []
    if _WORD.match(text):
        found = [*_found(text, 0, text), *encoded_in(text, text, _plainly)]
    else:
        bare = _parted(text)
        held, together = signs_of(bare)
        found = list(_found(bare, held, together))
        if together:
            found += encoded_in(bare, together, _plainly)
        if held & OF_RULES or together:
            found += as_seen(text, _plainly)
    if not found:
        return found
    return with_repeated(text, list(merged(found)))


def every_kind() -> list[str]:
    """All kinds of secrets that there are, by name."""
    return sorted({*SecretKind, *KINDS})


def secret_under(key: str, text: str) -> bool:
    """Whether a string is a secret because of its key."""
    if len(text) < _SHORTEST_VALUE or "\n" in text:
        return False
    if key in LOGIN_KEYS:
        return is_login_token(text)
    meaning = meaning_of(key)
    return meaning is not None and is_secret(text, meaning, ValueNotation.QUOTED)


def named_in(values: Iterable[Any]) -> dict[str, str]:
    """The distinct secrets in decoded JSON values, with their kinds: to be removed also where they stand without a name."""
    redactor = Redactor(clean=set())
    for value in values:
        redactor.value(value)
    return redactor.named


def redact(text: str) -> str:
    """`text` with every secret replaced by its name in brackets."""
    return Redactor().text(text)


def listed(found: Counter[str]) -> str:
    """The number of different secrets that were removed, in words: `1 github token, 2 aws keys`."""
    return ", ".join(f"{count} {name}" + _plural(name) * (count > 1) for name, count in sorted(found.items()))


def _plural(name: str) -> str:
    return "es" if name.endswith(("sh", "s")) else "s"


def _plainly(text: str) -> list[Span]:
    """The secrets that a text holds directly, neither encoded nor interrupted."""
    text = _parted(text)
    return list(_found(text, *signs_of(text)))


def _parted(text: str) -> str:
    """A text of the same length whose colours of a terminal begin a line: they are no part of the value before them."""
    if "\\" in text:
        text = text.replace("\\u001b", "\\n    ")
    return text.replace("\x1b", "\n")


def _found(text: str, held: int, together: str) -> Iterator[Span]:
    """The secrets of a text; `held` are the signs in it, `together` its long runs."""
    if together:
        yield from tokens_in(text, together)
        yield from bare_keys(text, together)
        yield from cracked_in(text, together)
    if together or "PRIVATE KEY" in text:
        yield from keys_in(text, together)
    if held & IN_SMALL_LETTERS:
        low = text.lower()
        if len(low) != len(text):
            # A capital whose small form has two characters would shift all places behind it.
            low = "".join(char.lower() if char.isascii() else char for char in text)
        if held & ASSIGNMENTS:
            yield from assignments_in(text, low, keywords(held & ASSIGNMENTS))
            yield from apart_in(text, low, literals_apart(held & APART))
        if held & HEADERS:
            yield from headers_in(text, low, header_signs(held & HEADERS))
        if held & SPOKEN:
            yield from spoken_in(text, low, foreign_names(held & SPOKEN))
        if held & RECOVERY_CODES:
            yield from codes_in(text, low)
        if held & SENTENCES:
            yield from sentences_in(text, low, names(held & SENTENCES))
        if held & TABLES:
            yield from columns_in(text, low, table_signs(held & TABLES))
            yield from inserted_in(text, low)
            yield from unnamed_in(text, low)
    if held & WALLETS:
        yield from phrases_in(text)
    if pairs := commands_of(held):
        yield from commands_in(text, pairs)
    if held & PORTS:
        yield from password_files_in(text, named=held & PORTS != PORT)
    if held & LOGIN_FILES:
        yield from login_tokens_in(text)
    yield from printed_in(text)
    if held & NAMED_FILES and "\n" in text:
        yield from named_files_in(text)
    if "@" in text:
        yield from urls_in(text)
    if "[" in text:
        yield from byte_lists_in(text)


_OUTPUTS = frozenset(
    {"text", "content", "output", "stdout", "aggregated_output", "formatted_output", "result"}
)
"""Keys under which agents store the output of a program."""
_COMMANDS = frozenset({"command", "cmd", "script", "code", "arguments", "input", "chars"})
"""Keys under which they store a command."""
_PATHS = frozenset({"file_path", "filePath", "path", "file", "filename"})
"""Keys under which they store the path of a file that is read."""
_JSON_STRING = late(r"\"(?:[^\"\\\n]|\\.){8,}+\"")
_ENCODED_OUTPUT = ('{"output":', '{"output" :')
"""The beginning of the output of a program as Codex stored it at first."""
_HEXADECIMAL = late(r"[0-9a-f]{20,}\s*\Z")
_SIDES = ("+", "-", " ")
"""First characters of the lines of a unified diff."""
_VALUES = frozenset({"value", "stringValue", "secretValue"})
_TELLING = _VALUES.union(LOGIN_KEYS)
"""Keys whose values may be secrets, though their names are not those of secrets."""


def _named(holder: dict[Any, Any]) -> str:
    """The name of the value beside it, as in `{"name": "DB_PASSWORD", "value": …}`."""
    if _VALUES.isdisjoint(holder):
        return ""
    name = holder.get("name", holder.get("key"))
    return name if isinstance(name, str) and any(isinstance(holder.get(key), str) for key in _VALUES) else ""


def _is_cut_up(lines: list[Any]) -> bool:
    """Whether a list may be the lines of a private key."""
    return (
        bool(lines)
        and isinstance(lines[0], str)
        and any(isinstance(line, str) and "PRIVATE KEY" in line for line in lines)
        and all(isinstance(line, str) for line in lines)
    )


@dataclass(slots=True)
class Redactor:
    """Redacts texts and counts the removed secrets, by name."""

    found: Counter[str] = field(default_factory=Counter)
    """Different secrets, by name; a secret found twice counts once."""
    seen: set[str] = field(default_factory=set)
    report: Callable[[str, str], object] | None = None
    """Called for each removed secret, with its kind and the secret itself."""
    clean: set[str] | None = None
    """Texts that hold no secret by themselves; where the same ones come again and again, none is searched twice."""
    silent: Collection[str] = ()
    """Texts of which it is known that they neither hold nor announce a secret (`silent_texts`)."""
    named: dict[str, str] = field(default_factory=dict)
    """Secrets of other texts with their kinds (`named_in`), and of the texts before: a text may repeat one without its name."""
    _silent: set[str] = field(default_factory=set)
    """Keys whose names tell nothing about their values."""
    _short: set[object] = field(default_factory=set)
    """Keys that are too short for a name."""
    _asked: bool | None = None
    """Whether the text before calls a program that prints only a secret: see `prints_secret`."""
    _file: int | None = None
    """The file of secrets that the text before reads: see `named_files`."""
    _printed: str = ""
    """The last secret that a program printed alone: agents store such an output more than once."""

    def text(self, text: str) -> str:
        """`text` with every secret replaced by its name in brackets, also a lone one that the text before announces."""
        return self._text(text, output=True, command=True)

    def note(self, text: str) -> None:
        """Notes the secrets of a text that is not passed on: later texts may repeat them without their names."""
        note_distinct(text, secrets_in(text), self.named, _MOST_NAMED)

    def _text(self, text: str, *, output: bool, command: bool) -> str:
        silent = text in self.silent
        is_clean = silent or (self.clean is not None and text in self.clean)
        spans = [] if is_clean else secrets_in(text)
        if self.clean is not None and not spans:
            self.clean.add(text)
        if self.named or self._is_announced:
            spans = self._with_earlier(text, spans, output=output)
        if command and not silent and len(text) >= _SHORTEST:
            self._note_command(text)
        if not spans:
            return text
        note_distinct(text, spans, self.named, _MOST_NAMED)
        pieces, at = [], 0
        for start, end, kind in spans:
            pieces += [text[at:start], self._name(kind, text[start:end])]
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    @property
    def _is_announced(self) -> bool:
        """Whether the texts before announce a secret that the next ones may hold without a name."""
        return self._asked is not None or self._file is not None or self._printed != ""

    def _with_earlier(self, text: str, spans: list[Span], *, output: bool) -> list[Span]:
        """The spans, and the places of secrets that the texts before named or announce; ids stay, other entries refer to them."""
        if self.named and len(text) >= _SHORTEST and not _PLAIN.match(text):
            again = list(places_of(self.named, text))
            if again:
                spans = list(merged([*spans, *again]))
        if output and (alone := self._alone(text)) is not None and not spans:
            spans = [(*alone, SecretKind.SECRET)]
        if output and self._file is not None and (lines := list(lines_of(text, self._file))):
            spans, self._file = list(merged([*spans, *lines])), None
        return spans

    def _note_command(self, text: str) -> None:
        """Notes a command whose output is a secret, or shows a file of secrets."""
        if (asked := prints_secret(text)) is not None:
            self._asked = asked
        if (file := file_read_by(text)) is not None:
            self._file = file

    def _alone(self, text: str) -> tuple[int, int] | None:
        """The place of a secret that a program printed alone: the text before says so, or the same output came before."""
        if self._printed and text.strip() == self._printed:
            at = text.index(self._printed)
            return at, at + len(self._printed)
        if (
            self._asked is None
            or len(text) < _SHORTEST
            or (_PLAIN.match(text) and not _HEXADECIMAL.match(text))
        ):
            return None
        sure, self._asked = self._asked, None
        found = lone_value(text, sure=sure)
        if found is not None:
            self._printed = text[slice(*found)]
        return found

    def patch(self, text: str) -> str:
        """The text of a unified diff with every secret replaced; it keeps its number of lines, or it would not apply."""
        pieces, at = [], 0
        for start, end, kind in merged([*secrets_in(text), *places_of(self.named, text)]):
            lines = text[start:end].split("\n")
            marker = self._name(kind, text[start:end])
            following = [f"{line[0]}{marker}" if line[:1] in _SIDES else marker for line in lines[1:]]
            pieces += [text[at:start], "\n".join([marker, *following])]
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def value(self, value: Any) -> Any:
        """A decoded JSON value with every string in it redacted; the base64 of images stays. Nesting may have any depth."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, (dict, list)):
            return value
        clean, silent = self.clean if self.clean is not None else (), self._silent
        root: Any = dict(value) if isinstance(value, dict) else list(value)
        open_holders = [self._entered(root)]
        named_before, announced = self.named, self._is_announced
        while open_holders:
            holder, items, picture, named = open_holders[-1]
            for key, item in items:
                if picture and key == "data" and _is_base64(item):
                    continue
                if isinstance(item, str):
                    if (
                        named_before
                        or announced
                        or item not in clean
                        or key not in silent
                        or key in _COMMANDS
                    ):
                        holder[key] = self._field(named if named and key in _VALUES else key, item)
                        announced = self._is_announced
                elif isinstance(item, (dict, list)):
                    # In the order of the document: a call may be an object ahead of the text that it printed.
                    holder[key] = copy = dict(item) if isinstance(item, dict) else list(item)
                    open_holders.append(self._entered(copy))
                    break
            else:
                open_holders.pop()
        return root

    def _entered(self, holder: Any) -> tuple[Any, Iterator[tuple[Any, Any]], bool, str]:
        """An object or list with its items, whether it is an image, and the name of its value."""
        if isinstance(holder, dict):
            self._keys(holder)
            # The values are replaced meanwhile, the keys are not.
            return holder, iter(holder.items()), holder.get("type") == "image", _named(holder)
        if _is_cut_up(holder):
            self._lines(holder)
        return holder, enumerate(holder), False, ""

    def _keys(self, holder: dict[Any, Any]) -> None:
        """Redacts the keys of an object, as in counts by key."""
        if self._short.issuperset(holder):
            return
        if all(len(key if type(key) is str else str(key)) < _SHORTEST_KEY for key in holder):
            self._short.update(holder)
            return
        plain: dict[Any, Any] = {}
        times = Counter[str]()
        for key, item in holder.items():
            name = self._text(key, output=False, command=False) if isinstance(key, str) else key
            if name is not key:
                # Several keys may be secrets of one kind: each keeps its value.
                times[name] += 1
                name += f" ({times[name]})" * (times[name] > 1)
            plain[name] = item
        if times:
            holder.clear()
            holder.update(plain)

    def _lines(self, lines: list[str]) -> None:
        """Redacts the lines of a private key in a list of lines; no line alone can be recognised."""
        text = "\n".join(lines)
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        keys = [(start, end) for start, end, kind in secrets_in(text) if kind == SecretKind.PRIVATE_KEY]
        markers = [self._name(SecretKind.PRIVATE_KEY, text[start:end]) for start, end in keys]
        gone = len(lines)
        # From the last key back, so that a replaced part moves nothing that is still to be replaced.
        for (start, end), marker in reversed(list(zip(keys, markers, strict=True))):
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            if first < last:
                lines[first : last + 1] = [marker] * (last + 1 - first)
                gone = first
            elif first < gone:
                # All of it lies in one string, which may have lines of its own.
                line, begin = lines[first], starts[first]
                lines[first] = f"{line[: start - begin]}{marker}{line[end - begin :]}"

    def _string(self, found: re.Match[str]) -> str:
        """A string in a text that is JSON, redacted by itself: what stands beside it there belongs to other values."""
        try:
            text = json.loads(found[0])
        except ValueError:
            return found[0]
        plain = self._text(text, output=False, command=False)
        return found[0] if plain is text else json.dumps(plain, ensure_ascii=found[0].isascii())

    def _field(self, key: object, text: str) -> str:
        """A string under a key, which tells as much as the name in an assignment."""
        if text.startswith("{") and (key == "arguments" or text.startswith(_ENCODED_OUTPUT)):
            text = _JSON_STRING.sub(self._string, text)
        plain = self._text(text, output=key in _OUTPUTS, command=key in _COMMANDS or isinstance(key, int))
        if key in _PATHS and (file := file_read_by(text)) is not None:
            self._file = file
        if plain is not text or key in self._silent or not isinstance(key, str):
            return plain
        if secret_under(key, text):
            return self._name(SecretKind.SECRET, text)
        if self.clean is not None and key not in _TELLING and meaning_of(key) is None:
            self._silent.add(key)
        return plain

    def _name(self, name: str, secret: str) -> str:
        if self.report is not None:
            self.report(name, secret)
        if secret not in self.seen:
            self.seen.add(secret)
            self.found[name] += 1
        return f"{MARKER}{name}]"


def _is_base64(text: object) -> bool:
    """Whether the data of an image is that: else it is searched like other text."""
    try:
        binascii.a2b_base64(text, strict_mode=True)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True
