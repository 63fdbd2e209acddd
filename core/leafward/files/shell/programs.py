"""The few programs whose operands are files, and the effect of each on them."""

from __future__ import annotations

import itertools
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


def _sed(words: Sequence[ShellWord]) -> list[Found]:
    """The effects of `sed`: with -i the files are changed, else read."""
    in_place = any(re.match(r"--in-place|-[nErsuz]*i", word.text) for word in words)
    # Letters behind the i are the suffix of a backup. BSD's sed takes it as a separate word, usually an empty one.
    return _edited(words, r"-[nErsuz]*[ef]|--expression|--file", in_place)


def _perl(words: Sequence[ShellWord]) -> list[Found]:
    """The effects of `perl`: with -i the files are changed, with -n or -p read; other programs may do anything."""
    letters = r"-[0-9acFlnpsTuwW]*"
    in_place = any(re.match(letters + "i", word.text) for word in words)
    if not in_place and not any(re.match(letters + "[np]", word.text) for word in words):
        return []
    return _edited(words, letters + r"(?:i[.\w]*?)?[eE]", in_place)


def _edited(words: Sequence[ShellWord], script: str, in_place: bool) -> list[Found]:
    """The files behind the options of a stream editor, whose script is the value of an option or the first operand."""
    options = [word.text for word in words if re.fullmatch(script, word.text)]
    joined = any(re.match(r"--(?:expression|file)=|-[ef].", word.text) for word in words)
    files = _operands([word for word in words if word.text], options)
    effect = FileOperation.CHANGE if in_place else FileOperation.READ
    return [(effect, word, None) for word in files[0 if options or joined else 1 :]]


def _awk(words: Sequence[ShellWord]) -> list[Found]:
    """The files that `awk` reads, or changes with `-i inplace`; its program is the first operand, or lies in a file."""
    in_place = any(word.text == "inplace" for word in words)
    scripted = any(word.text in ("-f", "--file") for word in words)
    files = _operands(words, ("-F", "-v", "-f", "-i", "--file", "--include"))[0 if scripted else 1 :]
    effect = FileOperation.CHANGE if in_place else FileOperation.READ
    return [(effect, word, None) for word in files if "=" not in word.text]


def _sort(words: Sequence[ShellWord]) -> list[Found]:
    with_value = [word.text for word in words if re.fullmatch("-[a-zA-Z]*[ktoST]", word.text)]
    read: list[Found] = [(FileOperation.READ, word, None) for word in _operands(words, with_value)]
    return [*read, *_output_of("-o", "--output")(words)]


def _output_of(*options: str) -> Callable[[Sequence[ShellWord]], list[Found]]:
    """The file that a program writes, which an option names."""

    def rule(words: Sequence[ShellWord]) -> list[Found]:
        short = re.compile("-[a-zA-Z]*" + options[0][1:])
        named = [
            after
            for before, after in itertools.pairwise(words)
            if before.text in options or short.fullmatch(before.text)
        ]
        named += [
            ShellWord(word.text.partition("=")[2], word.plain)
            for word in words
            if word.text.partition("=")[0] in options and "=" in word.text
        ]
        return [(FileOperation.WRITE, word, None) for word in named if word.text != "-"]

    return rule


_UNKNOWN = ShellWord("$", plain=False)
"""A file of a name that is not known."""
_TARGET = "--target-directory"
_UNSURE = re.compile(r"-[a-zA-Z]*[nui][a-zA-Z]*|--no-clobber|--update|--interactive")
"""Options with which `mv` and `cp` may leave a file where it is."""


def _sending(effect: FileOperation) -> Callable[[Sequence[ShellWord]], list[Found]]:
    """The effects of `mv` and `cp` of one file; several go into a folder, as does one where the target ends in a slash."""

    def rule(words: Sequence[ShellWord]) -> list[Found]:
        if effect is FileOperation.COPY and any(
            re.fullmatch(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive", word.text) for word in words
        ):
            return []
        sources, target, into = _sent(words)
        if target is None:
            return []
        if any(word.text == "--parents" for word in words):
            return [(FileOperation.CHANGE, _UNKNOWN, None)]
        if any(_UNSURE.fullmatch(word.text) for word in words):
            moved = sources if effect is FileOperation.MOVE else []
            there = [_inside(target, one) for one in sources] if into else [target]
            return [(FileOperation.CHANGE, word, None) for word in (*moved, *there)]
        found: list[Found] = []
        for source in sources:
            if not source.glob:
                found.append((effect, source, _inside(target, source) if into else target))
                continue
            # Files of unknown names arrive under them.
            found += [(FileOperation.CHANGE, source, None)] * (effect is FileOperation.MOVE)
            found.append((FileOperation.CHANGE, _inside(target, source), None))
        return found

    return rule


def _sent(
    words: Sequence[ShellWord], letters: str = "", with_value: Sequence[str] = ()
) -> tuple[list[ShellWord], ShellWord | None, bool]:
    """The files that a command sends, the target, and whether that is a folder; None where there is no target.

    Its options with a value are `with_value`, and those that end with one of `letters`.
    """
    into = [
        after
        for before, after in itertools.pairwise(words)
        if re.fullmatch(f"-[a-zA-Z]*t|{_TARGET}", before.text)
    ]
    into += [
        ShellWord(word.text.removeprefix(f"{_TARGET}="), word.plain)
        for word in words
        if word.text.startswith(f"{_TARGET}=")
    ]
    valued = [word.text for word in words if re.fullmatch(f"-[a-zA-Z]*[tS{letters}]", word.text)]
    operands = _operands(words, (_TARGET, "--suffix", *valued, *with_value))
    if into:
        return operands, into[0], True
    if len(operands) < 2:
        return [], None, False
    *sources, target = operands
    return sources, target, len(sources) > 1 or target.text.endswith("/") or target.text in (".", "..")


def _install(words: Sequence[ShellWord]) -> list[Found]:
    """The effects of `install`, which copies files and, with -d, makes folders."""
    if any(re.fullmatch(r"-[a-zA-Z]*d|--directory", word.text) for word in words):
        return []
    sources, target, into = _sent(words, "mog", ("--mode", "--owner", "--group"))
    if target is None:
        return []
    copied = [(source, _inside(target, source) if into else target) for source in sources]
    if any(word.text in ("-s", "--strip", "-C", "--compare") for word in words):
        return [(FileOperation.CHANGE, to, None) for _, to in copied]
    return [(FileOperation.COPY, source, to) for source, to in copied]


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
    "sort": _sort,
    "jq": _reading("--indent", "-L", with_two=("--arg", "--argjson", "--slurpfile", "--rawfile"), skip=1),
    "awk": _awk,
    "gawk": _awk,
    "sed": _sed,
    "gsed": _sed,
    "perl": _perl,
    "rm": _removing,
    "unlink": _removing,
    "mv": _sending(FileOperation.MOVE),
    "cp": _sending(FileOperation.COPY),
    "install": _install,
    "tee": _teeing,
    "sponge": _teeing,
    "curl": _output_of("-o", "--output"),
    "wget": _output_of("-O", "--output-document"),
    "touch": _touching,
    "truncate": _changing(FileOperation.CHANGE, "-s", "-r"),
    "git": _git,
}
