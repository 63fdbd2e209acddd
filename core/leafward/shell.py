"""What a shell script does to files, as far as its words say.

Nothing is run. A script is split into simple commands as a POSIX shell would, and the few programs whose operands are files
are read; whatever a shell would replace first (`$x`, `*`, `` ` ``) names no file. All of it is inferred: a command may have
failed half way, and programs that are not known here may have changed anything.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LONGEST = 200_000
"""Characters from which a script is not looked into."""


class Effect(StrEnum):
    """What a command does to a file."""

    READ = "read"
    WRITE = "write"
    """The whole of it is new."""
    APPEND = "append"
    CHANGE = "change"
    """Changed in place, in a way its words do not tell."""
    DELETE = "delete"
    MOVE = "move"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class ShellEffect:
    """What a command does to one file."""

    effect: Effect
    path: str
    """As the shell would see it: relative to the folder the script runs in, where it is not absolute."""
    to: str | None = None
    """Where it is moved or copied to."""
    text: str | None = None
    """What is written or appended, where the words of the script say all of it."""
    fresh: bool = False
    """Whether nothing can have lain where it is moved to: the command would have refused."""


@dataclass(slots=True)
class _Word:
    text: str = ""
    plain: bool = True
    """Whether it is what it says: nothing in it would be replaced by a shell."""


@dataclass(slots=True)
class _Redirection:
    sign: str
    target: _Word
    document: str | None = None
    """The text of a here-document; None where parts of it would be replaced."""


@dataclass(slots=True)
class _Command:
    words: list[_Word] = field(default_factory=list)
    redirections: list[_Redirection] = field(default_factory=list)
    piped: bool = False
    """Whether it reads what the command before it writes."""


_OPERATOR = re.compile(r"\|\||&&|;;|\|&|[;&|()\n]")
_REDIRECTION = re.compile(r"(?:\d*|&)(>>|>\||>|<<-|<<<|<<|<)(&\d+|&-)?")
_RUN = re.compile(r"""[^\s;&|()<>'"\\$`*?\[{]+|[\f\v\x1c-\x1f\x85\xa0]""")
"""Signs of a word that mean themselves."""
_QUOTES = re.compile(r'["\\$`]|\Z')
"""Where a double-quoted piece is not plain any more."""
_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "do",
        "done",
        "while",
        "until",
        "{",
        "}",
        "!",
        "time",
        "case",
        "esac",
    ]
)


class _Unreadable(ValueError):
    """A script that ends inside a quotation."""


class _Lexer:
    """Splits a script. One pass; every step goes forward."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.place = 0
        self.waiting: list[tuple[_Redirection, bool, bool]] = []

    def commands(self) -> Iterator[_Command | str]:
        """Simple commands, and the operators `(` `)` between them. Raises _Unreadable."""
        script, command = self.script, _Command()
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
                self._redirection(found, command)
            elif (operator := _OPERATOR.match(script, self.place)) is not None:
                self.place = operator.end()
                if operator[0] == "\n":
                    self._documents()
                yield command
                command = _Command(piped=operator[0] in ("|", "|&"))
                if operator[0] in "()":
                    yield operator[0]
            else:
                command.words.append(self._word())
        self._documents()
        yield command

    def _redirection(self, found: re.Match[str], command: _Command) -> None:
        self.place = found.end()
        if found[2] is not None:
            return
        while self.script.startswith((" ", "\t"), self.place):
            self.place += 1
        begin = self.place
        target = self._word()
        made = _Redirection(found[1], target)
        # A descriptor other than the output holds messages, whose text is not known.
        if found[0][:1].isdigit() and found[0][0] != "1":
            made.sign = found[1] + "2"
        command.redirections.append(made)
        if found[1] in ("<<", "<<-"):
            quoted = self.script[begin : self.place] != target.text
            self.waiting.append((made, quoted, found[1] == "<<-"))

    def _documents(self) -> None:
        """Takes the here-documents that begin at this place."""
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

    def _word(self) -> _Word:
        script, word, parts = self.script, _Word(), []
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
            raise _Unreadable
        self.place = end + 1
        return self.script[begin:end]

    def _quoted(self, word: _Word) -> str:
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
        raise _Unreadable

    def _expansion(self) -> str:
        """Passes over `$x`, `${x}`, `$(…)` or a piece in backticks."""
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
            raise _Unreadable
        elif script.startswith("${", begin):
            self._until("}", begin)
        else:
            self.place += 1
        return script[begin : self.place]


def effects(script: str, folder: str = "") -> list[ShellEffect]:
    """What a script does to files, in the order in which it would. `folder` is where it runs, where that was named.

    Nothing for a script that cannot be split, or is longer than `LONGEST` characters.
    """
    if len(script) > LONGEST or _TOUCHES.search(script) is None:
        return []
    found: list[ShellEffect] = []
    here: str | None = folder
    outer: list[str | None] = []
    try:
        for command in _Lexer(script).commands():
            if command == "(":
                outer.append(here)
            elif command == ")":
                here = outer.pop() if outer else here
            elif isinstance(command, _Command):
                moved = _folder_after(command, here)
                if moved is not _SAME:
                    here = moved if isinstance(moved, str) else None
                elif here is not None:
                    found += _effects_of(command, here)
    except _Unreadable:
        return []
    return found


_SAME = object()


def _folder_after(command: _Command, here: str | None) -> object:
    """The folder after a `cd`; None where it is not known; `_SAME` for any other command."""
    words = _without_keywords(command.words)
    if not words or words[0].text not in ("cd", "pushd") or not words[0].plain:
        return _SAME
    if len(words) != 2 or not words[1].plain or words[1].text == "-":
        return None
    target = words[1].text
    if here is None and not target.startswith("/"):
        return None
    return posixpath.normpath(posixpath.join(here or "", target)) if target else here


def _without_keywords(words: list[_Word]) -> list[_Word]:
    place = 0
    while place < len(words) and (
        words[place].text in _KEYWORDS
        or re.match(r"[A-Za-z_]\w*=", words[place].text)
        or words[place].text == "sudo"
    ):
        place += 1
    return words[place:]


def _effects_of(command: _Command, here: str) -> Iterator[ShellEffect]:
    words = _without_keywords(command.words)
    program = words[0].text.rpartition("/")[2] if words and words[0].plain else ""
    document = next((one.document for one in command.redirections if one.document is not None), None)
    fed = any(one.sign in {"<<", "<<-"} for one in command.redirections)

    def place(word: _Word) -> str | None:
        if not word.plain or word.text in ("", ".", "..") or word.text.startswith("/dev/"):
            return None
        path = word.text
        return path if path.startswith("~") or not here else posixpath.join(here, path)

    rule = _PROGRAMS.get(program)
    if rule is not None:
        for effect, word, to in rule(words[1:]):
            path, there = place(word), place(to) if to is not None else None
            if path is None or (to is not None and there is None):
                continue
            text = document if program == "tee" and fed else None
            yield ShellEffect(effect, path, there, text, fresh=program == "git")
    for one in command.redirections:
        path = place(one.target)
        if path is None or one.sign.startswith("<<"):
            continue
        if one.sign == "<":
            yield ShellEffect(Effect.READ, path)
        elif one.sign in (">", ">|", ">>"):
            said = None if command.piped else _output(program, words[1:], document, fed)
            yield ShellEffect(Effect.APPEND if one.sign == ">>" else Effect.WRITE, path, None, said)
        else:
            yield ShellEffect(Effect.APPEND if one.sign.startswith(">>") else Effect.WRITE, path)


def _output(program: str, words: Sequence[_Word], document: str | None, fed: bool) -> str | None:
    """What a command writes, where its words say it."""
    if program == "cat" and not words and fed:
        return document
    if program == "echo" and all(word.plain for word in words):
        texts = [word.text for word in words]
        newline = "\n"
        if texts and texts[0] == "-n":
            texts, newline = texts[1:], ""
        # Whether a backslash is kept depends on the shell.
        if (texts and texts[0].startswith("-")) or any("\\" in text for text in texts):
            return None
        return " ".join(texts) + newline
    if program == "printf" and len(words) == 1 and words[0].plain and not re.search(r"[%\\]", words[0].text):
        return words[0].text
    if program in ("", ":", "true") and not words:
        return ""
    return None


_Found = tuple[Effect, _Word, "_Word | None"]


def _operands(words: Sequence[_Word], with_value: Sequence[str] = ()) -> list[_Word]:
    """The words that are no options."""
    found: list[_Word] = []
    rest = iter(words)
    for word in rest:
        if word.text == "--":
            found += rest
        elif word.text in with_value:
            next(rest, None)
        elif not word.text.startswith("-") or word.text == "-":
            found.append(word)
    return [word for word in found if word.text != "-"]


def _reading(*with_value: str, skip: int = 0) -> Callable[[Sequence[_Word]], list[_Found]]:
    def rule(words: Sequence[_Word]) -> list[_Found]:
        return [(Effect.READ, word, None) for word in _operands(words, with_value)[skip:]]

    return rule


def _changing(effect: Effect, *with_value: str) -> Callable[[Sequence[_Word]], list[_Found]]:
    def rule(words: Sequence[_Word]) -> list[_Found]:
        return [(effect, word, None) for word in _operands(words, with_value)]

    return rule


def _stream_editor(words: Sequence[_Word]) -> list[_Found]:
    """`sed` and `perl`: with -i the files are changed, else read."""
    in_place = any(re.match(r"--in-place|-[a-zA-Z]*i", word.text) for word in words)
    scripted = any(re.fullmatch(r"-[a-zA-Z]*[ef]|--(expression|file)(=.*)?", word.text) for word in words)
    # The sed of BSD takes the ending of a copy as a word of its own, as a rule an empty one.
    words = [word for word in words if word.text]
    files = _operands(words, ("-e", "-f", "-ne", "-pe", "-pie", "--expression", "--file"))
    return [
        (Effect.CHANGE if in_place else Effect.READ, word, None) for word in files[0 if scripted else 1 :]
    ]


def _sending(effect: Effect) -> Callable[[Sequence[_Word]], list[_Found]]:
    """`mv` and `cp` of one file; several go into a folder, as does one where the target ends in a slash."""

    def rule(words: Sequence[_Word]) -> list[_Found]:
        if any(word.text in ("-t", "-r", "-R", "-a", "--recursive") for word in words):
            return []
        operands = _operands(words)
        if len(operands) < 2:
            return []
        *sources, target = operands
        into = len(sources) > 1 or target.text.endswith("/") or target.text in (".", "..")
        return [(effect, source, _inside(target, source) if into else target) for source in sources]

    return rule


def _inside(folder: _Word, file: _Word) -> _Word:
    return _Word(posixpath.join(folder.text, posixpath.basename(file.text)), folder.plain and file.plain)


def _git(words: Sequence[_Word]) -> list[_Found]:
    verb = words[0].text if words else ""
    rest = words[1:]
    if verb == "mv":
        return _sending(Effect.MOVE)(rest)
    if verb == "rm" and not any(word.text == "--cached" for word in rest):
        return _changing(Effect.DELETE)(rest)
    if verb == "restore":
        return _changing(Effect.CHANGE, "-s", "--source")(rest)
    if verb == "checkout":
        after = next((place for place, word in enumerate(rest) if word.text == "--"), None)
        return [(Effect.CHANGE, word, None) for word in rest[after + 1 :]] if after is not None else []
    return []


def _removing(words: Sequence[_Word]) -> list[_Found]:
    return [(Effect.DELETE, word, None) for word in _operands(words)]


def _teeing(words: Sequence[_Word]) -> list[_Found]:
    adds = any(word.text in ("-a", "--append") for word in words)
    return [(Effect.APPEND if adds else Effect.WRITE, word, None) for word in _operands(words)]


_PROGRAMS: dict[str, Callable[[Sequence[_Word]], list[_Found]]] = {
    "cat": _reading(),
    "bat": _reading("-l", "-r", "--line-range"),
    "less": _reading(),
    "more": _reading(),
    "head": _reading("-n", "-c"),
    "tail": _reading("-n", "-c"),
    "nl": _reading("-b", "-n", "-s", "-v", "-w"),
    "wc": _reading(),
    "diff": _reading("-U"),
    "cmp": _reading("-n"),
    "sort": _reading("-k", "-t", "-o"),
    "jq": _reading("--arg", skip=1),
    "awk": _reading("-F", "-v", skip=1),
    "sed": _stream_editor,
    "perl": _stream_editor,
    "rm": _removing,
    "unlink": _removing,
    "mv": _sending(Effect.MOVE),
    "cp": _sending(Effect.COPY),
    "tee": _teeing,
    "touch": _changing(Effect.APPEND, "-d", "-t", "-r"),
    "truncate": _changing(Effect.CHANGE, "-s", "-r"),
    "git": _git,
}

_TOUCHES = re.compile(
    r"<|>(?!&\d|\s*/dev/null\b)|\b(?:"
    + "|".join(name for name in _PROGRAMS if name not in ("git", "head", "tail", "wc", "sort"))
    + r"|git\s+(?:mv|rm|restore|checkout)|(?:head|tail|wc|sort)\b(?!(?:\s+-\w+(?:\s+\d+)?)*\s*(?:$|[|;&)\n])))\b"
)
"""What a script must have to touch a file: most have nothing of it. Filters without an operand touch none."""
