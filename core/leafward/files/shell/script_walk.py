"""The commands of a script in order, each with the folder that it runs in, its evidence, and the values of loops put in."""

from __future__ import annotations

import itertools
import posixpath
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.file_request import Proof
from leafward.files.shell.exit_evidence import closes, judged, without_keywords
from leafward.files.shell.lexer import Command, Lexer, Redirection, ShellWord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REPEATED = 20_000
"""Words of commands in loops that are repeated with the values of their variables; further ones are left as they are."""
_LONGEST_WORD = 512
"""Characters of a word from which no value is put into it, and of such a value."""
_VARIABLE = late(r"\$(?:\{(\w+)\}|(\w+))")
_BRACES = late(r"(?<!\$)\{([^${}`]*,[^${}`]*)\}")
_MOST_OF_BRACES = 256
_EXPANDED = late(r"[$`{*?\[]")
_LOOPS = frozenset({"while", "until"})
_NAMING = frozenset({"for", "select"})
_GOES_ON = frozenset({"do", "then", "else", "elif", "if", "fi", "{", "}", "!", "time"})


_GOING_ON = frozenset({"&&", "|", "|&"})
_GUARDED = 3
_MOST_ASTRAY = 4
"""Folders that a command may run in instead; with more of them its folder is not known."""


class PlacedCommand(NamedTuple):
    """A simple command of a script."""

    command: Command
    folder: str | None
    """The folder that it runs in, from that of the script; None where it is not known."""
    proof: Proof
    grouped: bool
    """Whether its redirections are those of a group that ends here."""
    astray: Mapping[str, Proof] = MappingProxyType({})
    """Folders that it runs in instead where a `cd` before it failed, and the evidence of that:

    `COMPLAINT` where the output shows it, `NONE` where nothing does.
    """


def placed(script: str, folder: str = "") -> Iterator[PlacedCommand]:
    """The simple commands of a script, without those that only change the folder. Raises Unreadable.

    A command in a loop over known words is given once for each of them.
    """
    walk = _Walk(folder)
    for token, proof in judged(list(Lexer(script).commands())):
        if isinstance(token, str):
            walk.bracket(token)
        else:
            yield from walk.command(token, proof)


_Folders = tuple[str | None, "_Folders | None"]
"""Folders that `pushd` left, the last one first."""


class _Place(NamedTuple):
    """The folder in which the next command runs."""

    here: str | None
    pushed: _Folders | None = None
    astray: Mapping[str, Proof] = MappingProxyType({})
    reached: bool = False
    """Whether the next command is reached only where the last `cd` was done."""


class _Walk:
    def __init__(self, folder: str) -> None:
        self._at = _Place(folder)
        self._outer: list[_Place] = []
        self._before: _Place | None = None
        """The place before a list that runs in the background."""
        self._guards = 0
        """Commands from here on among which an `exit` belongs to a `cd` that fails."""
        self._grouped = False
        self._loops: list[tuple[str, Sequence[ShellWord]]] = []
        """Open loops: the variable and its values, none where they are not known."""
        self._left = REPEATED

    def bracket(self, sign: str) -> None:
        """Enters or leaves a subshell."""
        if sign == "(":
            self._outer.append(self._at)
        elif self._outer:
            self._at = self._outer.pop()
        self._grouped = sign == ")"

    def command(self, command: Command, proof: Proof) -> Iterator[PlacedCommand]:
        """The command, as often as loops around it with known values run it."""
        if any("{" in word.text and not word.plain for word in command.words):
            command = _with_words(command, [one for word in command.words for one in _without_braces(word)])
        self._follow_loops(command.words)
        self._follow_background(proof)
        grouped, self._grouped = self._grouped or closes(command), False
        if not self._moves(command, proof):
            self._follow_guard(command)
            astray = {} if self._at.reached else self._at.astray
            for one in self._repeated(command) if self._loops else (command,):
                yield PlacedCommand(one, self._at.here, proof, grouped, astray)
        if self._at.reached and command.ended not in _GOING_ON:
            self._at = self._at._replace(reached=False)
            self._guards = _GUARDED if command.ended == "||" else 0

    def _follow_background(self, proof: Proof) -> None:
        """A list in the background has a folder of its own."""
        if proof is Proof.LATER:
            self._before = self._before or self._at
        elif self._before is not None:
            self._at, self._before = self._before, None

    def _follow_guard(self, command: Command) -> None:
        """`cd x || exit`: what follows is reached only where that `cd` was done."""
        words = without_keywords(command.words)
        if self._guards and words and words[0].text in ("exit", "return"):
            self._at, self._guards = self._at._replace(astray=MappingProxyType({})), 0
        self._guards = max(0, self._guards - 1)

    def _moves(self, command: Command, proof: Proof) -> bool:
        """Whether a command only changes the folder, which is done here."""
        words = without_keywords(command.words)
        program = words[0].text if words and words[0].plain else ""
        if program not in ("cd", "pushd", "popd"):
            return False
        before, certain = self._at, proof > Proof.NONE or proof is Proof.LATER
        if program == "popd":
            known = certain and len(words) == 1
            here, pushed = before.pushed if known and before.pushed is not None else (None, None)
            self._at = before._replace(here=here, pushed=pushed)
            return True
        here = _folder_named(words, before.here) if certain else None
        astray = _astray(command, proof, before, words, here)
        if len(astray) > _MOST_ASTRAY:
            here, astray = None, {}
        pushed = (before.here, before.pushed) if program == "pushd" else before.pushed
        self._at = _Place(here, pushed, astray, reached=True)
        return True

    def _follow_loops(self, words: Sequence[ShellWord]) -> None:
        for place, word in enumerate(words):
            if word.text in _NAMING:
                named = [one.text for one in words[place + 1 : place + 3]]
                known = len(named) == 2 and named[1] == "in"
                self._loops.append((named[0] if named else "", words[place + 3 :] if known else ()))
            elif word.text in _LOOPS:
                self._loops.append(("", ()))
            elif word.text == "done" and self._loops:
                self._loops.pop()
            if word.text not in _GOES_ON:
                break

    def _repeated(self, command: Command) -> Iterator[Command]:
        words = [*command.words, *(one.target for one in command.redirections)]
        used = {one[1] or one[2] for word in words if not word.plain for one in _VARIABLE.finditer(word.text)}
        loops = {name: values for name, values in self._loops if name in used}
        repeated = len(words)
        for values in loops.values():
            repeated *= len(values)
        if not loops or not 0 < repeated <= self._left:
            yield command
            return
        self._left -= repeated
        for values in itertools.product(*loops.values()):
            given = dict(zip(loops, values, strict=True))
            yield _with_words(
                command,
                [_with_values(word, given) for word in command.words],
                [
                    Redirection(one.sign, _with_values(one.target, given), one.document)
                    for one in command.redirections
                ],
            )


def _folder_named(words: Sequence[ShellWord], here: str | None) -> str | None:
    """The folder after a `cd` or `pushd`; None where it is not known."""
    if len(words) != 2 or not words[1].plain or words[1].text.startswith(("-", "+")):
        return None
    target = words[1].text
    if here is None and not target.startswith("/"):
        return None
    return posixpath.normpath(posixpath.join(here or "", target)) if target else here


def _astray(
    command: Command, proof: Proof, before: _Place, words: Sequence[ShellWord], here: str | None
) -> dict[str, Proof]:
    """The folders in which what follows a `cd` runs where that `cd`, or one before it, fails."""
    led = ((_folder_named(words, folder), sign) for folder, sign in before.astray.items())
    found = {folder: sign for folder, sign in led if folder is not None and folder != here}
    if proof is not Proof.EXIT and before.here is not None and before.here != here:
        silent = any("2" in one.sign or "&" in one.sign for one in command.redirections)
        found = {**before.astray, **found, before.here: Proof.NONE if silent else Proof.COMPLAINT}
    return found


def _with_words(
    command: Command, words: list[ShellWord], redirections: list[Redirection] | None = None
) -> Command:
    return Command(
        words, command.redirections if redirections is None else redirections, command.piped, command.ended
    )


def _without_braces(word: ShellWord) -> list[ShellWord]:
    """A word, or in the place of `a.{b,c}` those that a shell makes of it."""
    if word.plain or "{" not in word.text or len(word.text) > _LONGEST_WORD:
        return [word]
    made = [word.text]
    while _BRACES.search(made[0]) is not None and len(made) <= _MOST_OF_BRACES:
        made = [
            text[: found.start()] + one + text[found.end() :]
            for text in made
            if (found := _BRACES.search(text)) is not None
            for one in found[1].split(",")
        ]
    return [ShellWord(text, re.search(_EXPANDED.pattern, text) is None) for text in made]


def _with_values(word: ShellWord, given: Mapping[str, ShellWord]) -> ShellWord:
    """A word with the values of some variables in it."""
    if (
        word.plain
        or len(word.text) > _LONGEST_WORD
        or any(len(one.text) > _LONGEST_WORD for one in given.values())
    ):
        return word
    text = _VARIABLE.sub(
        lambda one: given[name].text if (name := one[1] or one[2]) in given else one[0], word.text
    )
    return ShellWord(text, re.search(_EXPANDED.pattern, text) is None)
