"""The few programs whose operands are files, and the effect of each on them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.shell.bulk_effects import only_staged
from leafward.files.shell.lexer import ShellWord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Found = tuple[FileOperation, ShellWord, "ShellWord | None"]
"""The operation, its file, and the target of a move or copy."""


def _operands(
    words: Sequence[ShellWord], with_value: Sequence[str] = (), with_two: Sequence[str] = ()
) -> list[ShellWord]:
    """The words that are neither options nor values of options."""
    found: list[ShellWord] = []
    rest = iter(words)
    for word in rest:
        if word.text == "--":
            found += rest
        elif word.text in with_value or word.text in with_two:
            next(rest, None)
            if word.text in with_two:
                next(rest, None)
        elif not word.text.startswith("-") or word.text == "-":
            found.append(word)
    return [word for word in found if word.text != "-"]


def _reading(
    *with_value: str, with_two: Sequence[str] = (), skip: int = 0
) -> Callable[[Sequence[ShellWord]], list[Found]]:
    def rule(words: Sequence[ShellWord]) -> list[Found]:
        return [(FileOperation.READ, word, None) for word in _operands(words, with_value, with_two)[skip:]]

    return rule


def _changing(effect: FileOperation, *with_value: str) -> Callable[[Sequence[ShellWord]], list[Found]]:
    def rule(words: Sequence[ShellWord]) -> list[Found]:
        return [(effect, word, None) for word in _operands(words, with_value)]

    return rule


def _stream_editor(words: Sequence[ShellWord]) -> list[Found]:
    """The effects of `sed` and `perl`: with -i the files are changed, else read."""
    in_place = any(re.match(r"--in-place|-[a-zA-Z]*i", word.text) for word in words)
    scripted = any(re.fullmatch(r"-[a-zA-Z]*[ef]|--(expression|file)(=.*)?", word.text) for word in words)
    # BSD's sed takes the suffix of a backup as a separate word, usually an empty one.
    words = [word for word in words if word.text]
    files = _operands(words, ("-e", "-f", "-ne", "-pe", "-pie", "--expression", "--file"))
    return [
        (FileOperation.CHANGE if in_place else FileOperation.READ, word, None)
        for word in files[0 if scripted else 1 :]
    ]


def _sending(effect: FileOperation) -> Callable[[Sequence[ShellWord]], list[Found]]:
    """The effects of `mv` and `cp` of one file; several go into a folder, as does one where the target ends in a slash."""

    def rule(words: Sequence[ShellWord]) -> list[Found]:
        if any(word.text in ("-t", "-r", "-R", "-a", "--recursive") for word in words):
            return []
        operands = _operands(words)
        if len(operands) < 2:
            return []
        *sources, target = operands
        into = len(sources) > 1 or target.text.endswith("/") or target.text in (".", "..")
        return [(effect, source, _inside(target, source) if into else target) for source in sources]

    return rule


def _inside(folder: ShellWord, file: ShellWord) -> ShellWord:
    return ShellWord(posixpath.join(folder.text, posixpath.basename(file.text)), folder.plain and file.plain)


def _git(words: Sequence[ShellWord]) -> list[Found]:
    verb = words[0].text if words else ""
    rest = words[1:]
    if verb == "mv":
        return _sending(FileOperation.MOVE)(rest)
    if verb == "rm" and not any(word.text == "--cached" for word in rest):
        return _changing(FileOperation.DELETE)(rest)
    if verb == "restore" and not only_staged(rest):
        return _changing(FileOperation.CHANGE, "-s", "--source")(rest)
    if verb == "checkout":
        after = next((place for place, word in enumerate(rest) if word.text == "--"), None)
        return [(FileOperation.CHANGE, word, None) for word in rest[after + 1 :]] if after is not None else []
    return []


def _removing(words: Sequence[ShellWord]) -> list[Found]:
    return [(FileOperation.DELETE, word, None) for word in _operands(words)]


def _touching(words: Sequence[ShellWord]) -> list[Found]:
    made = _changing(FileOperation.APPEND, "-d", "-t", "-r")(words)
    # With this option it creates no file, and changes only the times of existing ones.
    return [] if any(word.text in ("-c", "--no-create") for word in words) else made


def _teeing(words: Sequence[ShellWord]) -> list[Found]:
    adds = any(word.text in ("-a", "--append") for word in words)
    return [(FileOperation.APPEND if adds else FileOperation.WRITE, word, None) for word in _operands(words)]


PROGRAMS: dict[str, Callable[[Sequence[ShellWord]], list[Found]]] = {
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
    "jq": _reading("--indent", "-L", with_two=("--arg", "--argjson", "--slurpfile", "--rawfile"), skip=1),
    "awk": _reading("-F", "-v", skip=1),
    "sed": _stream_editor,
    "perl": _stream_editor,
    "rm": _removing,
    "unlink": _removing,
    "mv": _sending(FileOperation.MOVE),
    "cp": _sending(FileOperation.COPY),
    "tee": _teeing,
    "touch": _touching,
    "truncate": _changing(FileOperation.CHANGE, "-s", "-r"),
    "git": _git,
}
