"""A shell script split into simple commands, as a POSIX shell would. Nothing is expanded and nothing run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class ShellWord:
    """A word of a command, without its quotes."""

    text: str = ""
    plain: bool = True
    """Whether its text is literal: a shell would expand nothing in it."""

    @property
    def glob(self) -> bool:
        """Whether a shell would expand it to names of files, and nothing else in it is unknown."""
        return not self.plain and not re.search(r"[$`{]", self.text) and bool(re.search(r"[*?\[]", self.text))


@dataclass(slots=True)
class Redirection:
    """A source or target of a command's input or output."""

    sign: str
    target: ShellWord
    document: str | None = None
    """The text of a here-document; None where a shell would expand parts of it."""


@dataclass(slots=True)
class Command:
    """A simple command, keywords and assignments in front included."""

    words: list[ShellWord] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    piped: bool = False
    """Whether it reads the output of the command before it."""
    ended: str = ""
    """The operator after it; empty at the end of the script."""


_OPERATOR = late(r"\|\||&&|;;|\|&|[;&|()\n]")
_REDIRECTION = late(r"(?:\d*|&)(>>|>\||>|<<-|<<<|<<|<)(&\d+|&-)?")
_JOINED = late(r"[<>]&")
"""The redirection of a descriptor to another one: `2>&1`."""
_RUN = late(r"""[^\s;&|()<>'"\\$`*?\[{]+|[\f\v\x1c-\x1f\x85\xa0]""")
"""Literal characters of a word."""
_QUOTES = late(r'["\\$`]|\Z')
"""The end of the literal part of a double-quoted piece."""


LONGEST_LINE = 4096
"""Characters from which a script is not taken for one plain command."""


def simple_words(script: str) -> list[str] | None:
    """The words of a script that is one simple command.

    None where it is more than one, has redirections, or a shell would expand a part of it.
    """
    script = script.strip()
    if not script or len(script) > LONGEST_LINE or "\n" in script or _JOINED.search(script) is not None:
        return None
    try:
        first, *others = islice(Lexer(script).commands(), 2)
    except Unreadable:
        return None
    if others or isinstance(first, str) or first.redirections or not all(word.plain for word in first.words):
        return None
    return [word.text for word in first.words]


class Unreadable(ValueError):
    """A script that ends inside a quotation."""


class Lexer:
    """Splits a script. One pass; every step goes forward."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.place = 0
        self.waiting: list[tuple[Redirection, bool, bool]] = []

    def commands(self) -> Iterator[Command | str]:
        """Simple commands, and the operators `(` `)` between them. Raises Unreadable."""
        script, command = self.script, Command()
        while self.place < len(script):
            sign = script[self.place]
            if sign in " \t\r":
                self.place += 1
            elif script.startswith("\\\n", self.place):
                self.place += 2
            elif sign == "#":
                end = script.find("\n", self.place)
                self.place = len(script) if end < 0 else end
            elif (found := _REDIRECTION.match(script, self.place)) is not None:
                self._redirected(found, command)
            elif (operator := _OPERATOR.match(script, self.place)) is not None:
                self.place = operator.end()
                if operator[0] == "\n":
                    self._documents()
                command.ended = operator[0]
                yield command
                command = Command(piped=operator[0] in ("|", "|&"))
                if operator[0] in "()":
                    yield operator[0]
            else:
                command.words.append(self._word())
        self._documents()
        yield command

    def _redirected(self, found: re.Match[str], command: Command) -> None:
        self.place = found.end()
        if found[2] is not None:
            return
        while self.script.startswith((" ", "\t"), self.place):
            self.place += 1
        begin = self.place
        target = self._word()
        made = Redirection(found[1], target)
        # A descriptor other than the output receives messages, whose text is not known.
        if found[0][:1].isdigit() and found[0][0] != "1":
            made.sign = found[1] + "2"
        command.redirections.append(made)
        if found[1] in ("<<", "<<-"):
            quoted = self.script[begin : self.place] != target.text
            self.waiting.append((made, quoted, found[1] == "<<-"))

    def _documents(self) -> None:
        """Reads the here-documents that begin at this place."""
        for made, quoted, indented in self.waiting:
            lines = []
            while self.place < len(self.script):
                end = self.script.find("\n", self.place)
                end = len(self.script) if end < 0 else end
                line = self.script[self.place : end]
                self.place = min(len(self.script), end + 1)
                line = line.lstrip("\t") if indented else line
                if line == made.target.text:
                    break
                lines.append(line)
            text = "".join(f"{line}\n" for line in lines)
            made.document = text if quoted or not re.search(r"[$`\\]", text) else None
        self.waiting.clear()

    def _word(self) -> ShellWord:
        script, word, parts = self.script, ShellWord(), []
        while self.place < len(script):
            sign = script[self.place]
            if sign == "'":
                parts.append(self._until("'", self.place + 1))
            elif sign == '"':
                parts.append(self._quoted(word))
            elif sign == "\\":
                parts.append(
                    ""
                    if script[self.place + 1 : self.place + 2] == "\n"
                    else script[self.place + 1 : self.place + 2]
                )
                self.place += 2
            elif sign in "$`":
                word.plain = False
                parts.append(self._expansion())
            elif sign in " \t\r\n;&|()<>":
                break
            elif (run := _RUN.match(script, self.place)) is not None:
                parts.append(run[0])
                self.place = run.end()
            else:
                word.plain = False
                parts.append(sign)
                self.place += 1
        else:
            self.place = len(script)
        word.text = "".join(parts)
        return word

    def _until(self, sign: str, begin: int) -> str:
        end = self.script.find(sign, begin)
        if end < 0:
            raise Unreadable
        self.place = end + 1
        return self.script[begin:end]

    def _quoted(self, word: ShellWord) -> str:
        """A double-quoted piece."""
        script = self.script
        parts: list[str] = []
        self.place += 1
        while self.place < len(script):
            sign = script[self.place]
            if sign == '"':
                self.place += 1
                return "".join(parts)
            if sign == "\\":
                following = script[self.place + 1 : self.place + 2]
                parts.append(
                    following if following in '$`"\\' else "" if following == "\n" else sign + following
                )
                self.place += 2
            elif sign in "$`":
                word.plain = False
                parts.append(self._expansion())
            else:
                end = next(_QUOTES.finditer(script, self.place)).start()
                parts.append(script[self.place : end])
                self.place = end
        raise Unreadable

    def _expansion(self) -> str:
        """Skips `$x`, `${x}`, `$(…)` or a piece in backticks."""
        script, begin = self.script, self.place
        if script[begin] == "`":
            self._until("`", begin + 1)
        elif script.startswith("$(", begin):
            depth, self.place = 0, begin + 1
            while self.place < len(script):
                sign = script[self.place]
                if sign == "'":
                    self._until("'", self.place + 1)
                    continue
                depth += (sign == "(") - (sign == ")")
                self.place += 1
                if not depth:
                    return script[begin : self.place]
            raise Unreadable
        elif script.startswith("${", begin):
            self._until("}", begin)
        else:
            self.place += 1
        return script[begin : self.place]
