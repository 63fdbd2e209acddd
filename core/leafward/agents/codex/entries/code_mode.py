"""Codex's code mode: the model writes a script that calls the tools, and the tool `exec` runs it (seen from 0.147 on).

Most scripts make one call with arguments that are written out, and print what it returns. Such a script is read as that call:
its command, its patch and its failure are then what they are without code mode. Of any other script it is not known which of
its calls were made; the records between a script and its output tell what ran.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import Body

TOOL = "exec"
"""The tool that runs a script."""
WAIT = "wait"
"""The tool that waits for a script that still runs, and returns the rest of its output."""
NESTED = "exec-"
"""The beginning of the ids of what a script ran: they name no call of the model's."""
_FAILED = re.compile(r"Script (?:failed|terminated|timed out)\b")
"""The beginning of the output of a script that did not end well."""
_CALL = re.compile(r"\btools\.([A-Za-z_$][\w$]*)\s*\(")
_REPEATS = re.compile(r"\b(?:for|while|map|forEach|flatMap|reduce)\b\s*\(")
"""A sign that a call is made any number of times."""
_NAMED = re.compile(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*")
_SPACE = re.compile(r"(?:\s+|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_PLAIN = {
    '"': re.compile(r'[^"\\\n]*'),
    "'": re.compile(r"[^'\\\n]*"),
    "`": re.compile(r"(?:[^`\\$]|\$(?!\{))*"),
}
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_CODED = re.compile(r"u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})")
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}
_DEEPEST = 8
"""Values inside values that are read."""
_LONGEST = 1 << 20
"""Characters of a script that is read."""
_MOST = 2 << 20
_VALUE = 16
"""Most characters that are read for one script, and how many a value counts as beside its own: sums of names that stand for
sums of names grow without end."""


class _Unwritten(Exception):
    """A value that is not written out: it is only known when the script runs."""


def single_call(script: object) -> tuple[str, Body] | None:
    """The tool and the arguments of the only call that a script makes; None where it makes several, or arguments are computed."""
    if not isinstance(script, str) or len(script) > _LONGEST:
        return None
    calls = list(_CALL.finditer(script))
    if len(calls) != 1 or _REPEATS.search(script):
        return None
    try:
        value, end = _Reader(script).argument(calls[0].end())
    except (_Unwritten, IndexError):
        return None
    if end >= len(script) or script[end] not in "),":
        return None
    name = calls[0][1]
    if isinstance(value, dict):
        return name, value
    return (name, {"input": value}) if isinstance(value, str) else (name, {}) if value is None else None


class _Reader:
    """Reads the values that are written out in a script."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._names = {found[1]: found.end() for found in _NAMED.finditer(script)}
        self._left = _MOST

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _Unwritten

    def argument(self, at: int) -> tuple[Any, int]:
        """The first argument of a call, and the place behind it; None where the call has none."""
        at = self._past(at)
        return (None, at) if self._script[at] == ")" else self._sum(at, _DEEPEST)

    def _past(self, at: int) -> int:
        found = _SPACE.match(self._script, at)
        return found.end() if found is not None else at

    def _sum(self, at: int, depth: int) -> tuple[Any, int]:
        """A value, or texts added up."""
        value, at = self._value(at, depth)
        at = self._past(at)
        parts = [value]
        while isinstance(value, str) and self._script[at : at + 1] == "+":
            more, at = self._value(self._past(at + 1), depth)
            if not isinstance(more, str):
                raise _Unwritten
            parts.append(more)
            at = self._past(at)
        return "".join(parts) if len(parts) > 1 else value, at

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        if not depth:
            raise _Unwritten
        self._spend(_VALUE)
        sign = self._script[at]
        if sign in _PLAIN:
            return self._text(at, escapes=True)
        if sign == "{":
            return self._object(at, depth)
        if sign == "[":
            return self._list(at, depth)
        if number := _NUMBER.match(self._script, at):
            return json.loads(number[0]), number.end()
        if self._script.startswith("String.raw`", at):
            return self._text(at + len("String.raw"), escapes=False)
        word = _NAME.match(self._script, at)
        if word is None:
            raise _Unwritten
        if word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        if self._script[word.end() : word.end() + 1] in (".", "(", "[") or word[0] not in self._names:
            raise _Unwritten
        value, _ = self._sum(self._names[word[0]], depth - 1)
        return value, word.end()

    def _text(self, at: int, *, escapes: bool) -> tuple[str, int]:
        quote, parts = self._script[at], []
        at += 1
        while True:
            plain = _PLAIN[quote].match(self._script, at)
            end = plain.end() if plain is not None else at
            parts.append(self._script[at:end])
            sign = self._script[end]
            if sign == quote:
                # Signs beyond the first 65,536 are written as two.
                text = "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                self._spend(len(text))
                return text, end + 1
            if sign != "\\":
                raise _Unwritten
            if not escapes:
                parts.append(self._script[end : end + 2])
                at = end + 2
            elif coded := _CODED.match(self._script, end + 1):
                parts.append(chr(min(int(next(filter(None, coded.groups())), 16), 0x10FFFF)))
                at = coded.end()
            else:
                parts.append(_SIGNS.get(self._script[end + 1], self._script[end + 1]))
                at = end + 2

    def _object(self, at: int, depth: int) -> tuple[Body, int]:
        found: Body = {}
        at = self._past(at + 1)
        while self._script[at] != "}":
            if self._script[at] in "\"'":
                key, at = self._text(at, escapes=True)
            elif (name := _NAME.match(self._script, at)) is not None:
                key, at = name[0], name.end()
            else:
                raise _Unwritten
            at = self._past(at)
            if self._script[at] == ":":
                found[key], at = self._sum(self._past(at + 1), depth - 1)
            elif key in self._names:
                # `{cmd}` stands for `{cmd: cmd}`.
                found[key], _ = self._sum(self._names[key], depth - 1)
            else:
                raise _Unwritten
            at = self._separated(at, "}")
        return found, at + 1

    def _list(self, at: int, depth: int) -> tuple[Any, int]:
        found: list[Any] = []
        at = self._past(at + 1)
        while self._script[at] != "]":
            value, at = self._sum(at, depth - 1)
            found.append(value)
            at = self._separated(at, "]")
        at += 1
        if self._script.startswith(".join(", at) and all(isinstance(one, str) for one in found):
            separator, at = self._value(self._past(at + len(".join(")), depth - 1)
            at = self._past(at)
            if isinstance(separator, str) and self._script[at] == ")":
                self._spend(len(separator) * len(found))
                return separator.join(found), at + 1
            raise _Unwritten
        return found, at

    def _separated(self, at: int, end: str) -> int:
        """The place of the next item or of the end."""
        at = self._past(at)
        if self._script[at] == ",":
            return self._past(at + 1)
        if self._script[at] != end:
            raise _Unwritten
        return at


def has_failed(output: object) -> bool:
    """Whether the output of a script tells that it did not end well."""
    first = output[0] if isinstance(output, list) and output else None
    text = first.get("text") if isinstance(first, dict) else output
    return isinstance(text, str) and _FAILED.match(text) is not None


def exit_code_in(output: object) -> int | None:
    """The exit code of a command in the result that a script printed as it is; None where there is none."""
    for block in output if isinstance(output, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str) and text.startswith('{"chunk_id"') and len(text) <= _LONGEST:
            try:
                code = orjson.loads(text).get("exit_code")
            except ValueError:
                continue
            if isinstance(code, int):
                return code
    return None


def calls_in(items: Iterable[Body]) -> list[Body]:
    """The calls that a script made: its commands, and its changes of files as patches."""
    return [call for item in items if (call := _call_of(item)) is not None]


def _call_of(item: Body) -> Body | None:
    status = "error" if item.get("status") in ("failed", "declined") or item.get("exit_code") else "done"
    call = {"id": str(item.get("call_id", item.get("id"))), "status": status}
    words, changes = item.get("command"), item.get("changes")
    if isinstance(words, list) and words:
        folder = str(item.get("cwd") or "").removeprefix("file://")
        return {
            **call,
            "name": "exec_command",
            "arguments": {"cmd": str(words[-1]), "workdir": unquote(folder)},
        }
    if isinstance(changes, dict) and changes:
        patch = "\n".join(line for path, change in changes.items() for line in _patched(str(path), change))
        return {
            **call,
            "name": "apply_patch",
            "arguments": {"input": f"*** Begin Patch\n{patch}\n*** End Patch"},
        }
    return None


_HUNK = re.compile(r"(?m)^@@ -\d[\d,]* \+\d[\d,]* @@.*$")


def _patched(path: str, change: object) -> list[str]:
    """The change of one file in the form of a patch."""
    change = change if isinstance(change, dict) else {}
    kind, text = change.get("type"), str(change.get("content") or change.get("unified_diff") or "")
    if kind == "delete":
        return [f"*** Delete File: {path}"]
    if kind == "add":
        return [f"*** Add File: {path}", *(f"+{line}" for line in text.removesuffix("\n").split("\n"))]
    moved = change.get("move_path")
    head = [f"*** Update File: {path}"] + ([f"*** Move to: {moved}"] if isinstance(moved, str) else [])
    return [*head, *_HUNK.sub("@@", text).removesuffix("\n").split("\n")]
