"""The commands of a script that were run, as far as its exit code and its output prove it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.files.file_request import Proof
from leafward.files.shell.lexer import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.files.shell.lexer import ShellWord


_OPENING = frozenset({"if", "while", "until", "for", "select", "case"})
_CLOSING = {"fi": ("if",), "done": ("while", "until", "for", "select"), "esac": ("case",), "}": ("{",)}
_BETWEEN = frozenset({"then", "elif", "else", "do", "time"})
_LOUD = frozenset([
    "cd", "pushd", "popd", "mkdir", "cp", "mv", "rm", "rmdir", "ln", "touch", "chmod", "cat", "tee", "echo",
    "printf", "export", "set", ":", "true", "sed", "pwd", "ls", "mktemp", "truncate"
])  # fmt: skip
"""Programs that report their failures: after any other, the commands after `&&` are skipped in silence."""
_LEAVING = frozenset({"exit", "return", "exec"})
_JOINING = frozenset({"&&", "||", "|", "|&"})


_AHEAD = _BETWEEN | (_OPENING - {"for", "select"}) | _CLOSING.keys() | {"{", "!"}
"""Keywords before a command."""


def without_keywords(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """The words of a command without shell keywords, assignments, and `sudo` without options."""
    place = 0
    while place < len(words) and (
        (text := words[place].text) in _AHEAD
        or (text == "sudo" and not any(one.text.startswith("-") for one in words[place + 1 : place + 2]))
        or ("=" in text and re.match(r"[A-Za-z_]\w*=", text))
    ):
        place += 1
    return words[place:] if place else words


def closes(command: Command) -> bool:
    """Whether a command ends a group, whose output its redirections receive."""
    return bool(command.words) and command.words[0].text in _CLOSING


def judged(tokens: Sequence[Command | str]) -> Iterator[tuple[Command | str, Proof]]:
    """The commands and brackets of a script, each with the evidence that it was done."""
    reader = _Reader(tokens)
    for number, token in enumerate(tokens):
        yield token, reader.bracket(number) if isinstance(token, str) else reader.command(number, token)


def _waits(command: Command) -> bool:
    return [word.text for word in without_keywords(command.words)][:1] == ["wait"]


def _in_background(tokens: Sequence[Command | str]) -> set[int]:
    """The numbers of the commands that a shell does not wait for: a list or a group that `&` ends."""
    if not any(isinstance(one, Command) and one.ended == "&" for one in tokens):
        return set()
    found: set[int] = set()
    begin, outer = 0, list[int]()
    for number, token in enumerate(tokens):
        if isinstance(token, str):
            if token.startswith("("):
                outer.append(begin)
                begin = number + 1
            elif outer:
                begin = outer.pop()
            continue
        for word in token.words:
            if word.text in _OPENING or word.text == "{":
                outer.append(begin)
                begin = number
            elif word.text in _CLOSING and outer:
                begin = outer.pop()
            elif word.text not in _BETWEEN:
                break
        if token.ended == "&":
            found.update(range(begin, number + 1))
        if token.ended not in _JOINING and token.ended != "(":
            begin = number + 1
    return found


class _Reader:
    """Goes through a script once, and remembers what the commands so far say about those that come."""

    def __init__(self, tokens: Sequence[Command | str]) -> None:
        self._tokens = tokens
        self._list = self._lists()
        spoken = [
            number
            for number, one in enumerate(tokens)
            if isinstance(one, Command) and (one.words or one.redirections)
        ]
        self._final = self._list[spoken[-1]] if spoken else -1
        self._or = {
            self._list[at] for at, one in enumerate(tokens) if isinstance(one, Command) and one.ended == "||"
        }
        self._and = {
            self._list[at] for at, one in enumerate(tokens) if isinstance(one, Command) and one.ended == "&&"
        }
        self._behind = _in_background(tokens)
        waits = (at for at, one in enumerate(tokens) if isinstance(one, Command) and _waits(one))
        self._waits = max(waits, default=-1) if self._behind else -1
        """The last command that waits for what runs in the background."""
        self._around: list[tuple[str, bool]] = []
        """The open constructs, and for each whether its surroundings are under a condition."""
        self._conditional = self._function = self._left = self._strict = False
        self._current = -1
        self._signs: set[str] = set()
        self._loud = True

    def _lists(self) -> list[int]:
        """The number of the list that each token belongs to: commands joined by `&&`, `||` and pipes."""
        found, number, joined = [], 0, False
        for token in self._tokens:
            found.append(number)
            if isinstance(token, str):
                number, joined = number + 1, False
                continue
            if joined and token.ended == "\n" and not token.words and not token.redirections:
                continue
            joined = token.ended in _JOINING
            number += not joined
        return found

    def bracket(self, number: int) -> Proof:
        if self._tokens[number] == "(":
            before = self._tokens[number - 1] if number else None
            named = isinstance(before, Command) and len(without_keywords(before.words)) == 1
            self._around.append(("(", self._conditional))
            self._function |= named
            self._conditional |= bool(self._signs) or named
        elif self._around and self._around[-1][0] == "(":
            self._conditional = self._around.pop()[1]
        return Proof.NONE

    def command(self, number: int, command: Command) -> Proof:
        if self._list[number] != self._current:
            self._current, self._signs, self._loud = self._list[number], set(), True
        negated = self._keywords(command.words)
        words = without_keywords(command.words)
        program = words[0].text.rpartition("/")[2] if words else ""
        proof = Proof.NONE if negated or self._left else self._proof(command)
        if number in self._behind:
            proof = Proof.LATER if number > self._waits else Proof.NONE
        if program in _LEAVING and not (len(words) > 1 and re.fullmatch(r"[1-9]\d*", words[1].text)):
            self._left = True
        if program == "set" and any(re.match(r"-[a-z]*e", word.text) for word in words[1:]):
            self._strict = True
        if command.ended in ("&&", "||"):
            self._signs.add(command.ended)
            self._loud = self._loud and program in _LOUD
        return proof

    def _keywords(self, words: Sequence[ShellWord]) -> bool:
        """Records the constructs that the beginning of a command opens and closes; returns whether it is negated."""
        negated = False
        for word in words:
            text = word.text
            if text in _OPENING:
                self._around.append((text, self._conditional))
                self._conditional = True
                if text in ("for", "select", "case"):
                    break
            elif text in _CLOSING:
                while self._around and self._around[-1][0] != "(":
                    opened, self._conditional = self._around.pop()
                    if opened in _CLOSING[text]:
                        break
            elif text == "{":
                self._around.append(("{", self._conditional))
                self._conditional = self._conditional or self._function or bool(self._signs)
                self._function = False
            elif text == "function":
                self._function = True
                continue
            elif text == "!":
                negated = True
            elif text not in _BETWEEN and not self._function:
                break
        return negated

    def _proof(self, command: Command) -> Proof:
        if self._conditional or "||" in self._signs:
            return Proof.NONE
        last = command.ended not in ("|", "|&")
        if self._current == self._final and self._current not in self._or:
            return Proof.EXIT if last else Proof.SILENCE
        if self._strict and last and self._current not in (self._or | self._and):
            return Proof.EXIT
        return Proof.SILENCE if self._loud else Proof.NONE


_COMPLAINT = late(
    r"(?i)no such file|permission denied|cannot |can't |not a directory|is a directory|read-only|no space|nonexistent|not permitted"
)


_STAYED = late(r"\b(?:cd|pushd|popd): ")


def stayed(output: str) -> bool:
    """Whether a script's output reports a folder that it could not go to."""
    return _STAYED.search(output) is not None


def complains(output: str) -> bool:
    """Whether a script's output reports a failed access to a file."""
    return _COMPLAINT.search(output) is not None
