"""The effects of a shell script on files, as far as its words tell them.

Nothing is run. A script is split into simple commands as a POSIX shell would, and the few programs whose operands are files
are read; a word that a shell would replace first (`$x`, `*`, `` ` ``) names no file. All of it is inferred: a command may
have failed half way, and programs that are not known here may have changed anything.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late, one_of
from leafward.files.file_operation import FileOperation
from leafward.files.file_request import BulkCommand, FileRequest, Proof, Staging
from leafward.files.shell.bulk_effects import sweeps
from leafward.files.shell.formatters import may_format
from leafward.files.shell.inline_programs import SIGNS, files_changed
from leafward.files.shell.lexer import Command, ShellWord, Unreadable
from leafward.files.shell.programs import PROGRAMS
from leafward.files.shell.script_walk import PlacedCommand, placed
from leafward.files.shell.wrappers import DEEPEST, nested_script, unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LONGEST = 200_000
"""Characters from which a script is not parsed."""
_REMEMBERED = 32
"""Scripts whose effects are remembered."""


def effects(script: str, folder: str = "") -> list[FileRequest]:
    """The effects of a script on files, in the order of execution, all of them inferred. `folder` is its folder, where that was named.

    Empty for a script that cannot be split, or is longer than `LONGEST` characters.
    """
    if len(script) > LONGEST or (
        _TOUCHES.search(script) is None
        # A program changes a file by a call.
        and not ("(" in script and any(map(script.__contains__, SIGNS)))
        and not may_format(script)
    ):
        return []
    return list(_effects(script, folder))


@lru_cache(maxsize=_REMEMBERED)
def _effects(script: str, folder: str, depth: int = 0) -> tuple[FileRequest, ...]:
    """The effects of a script, which so many shells are around. A replay asks for them once for each file in it."""
    try:
        commands = list(placed(script, folder))
    except Unreadable:
        return ()
    found: list[FileRequest] = []
    for command, here, proof, grouped, astray in commands:
        if here is None:
            continue
        inner = nested_script(command) if depth < DEEPEST else None
        if inner is not None:
            # Of a shell whose exit code is not known nothing is.
            known = proof is Proof.EXIT
            least = Proof.LATER if proof is Proof.LATER else Proof.NONE
            found += [one if known else one._replace(proof=least) for one in _effects(inner, here, depth + 1)]
        for one in _effects_of(command, here, proof, grouped=grouped):
            if one.operation is not FileOperation.SWEEP:
                found.append(one)
            elif (
                one.by is BulkCommand.POP
                and proof is Proof.EXIT
                and found
                and found[-1].by is BulkCommand.STASH
            ):
                # The stashed changes are back, if this was done.
                found[-1] = one
            else:
                found.append(
                    one if one.home is not None or proof is Proof.LATER else one._replace(proof=Proof.NONE)
                )
            if astray and one.operation.changes and one.operation is not FileOperation.SWEEP:
                found += _where_it_strayed(command, one, astray)
    return tuple(found)


def _where_it_strayed(
    command: Command, done: FileRequest, astray: Mapping[str, Proof]
) -> Iterator[FileRequest]:
    """The files that a change may have met instead where a `cd` before it failed, and its own, which it then did not meet."""
    for folder, sign in astray.items():
        there = [
            path
            for one in _effects_of(command, folder, sign, grouped=True)
            if one.operation is done.operation
            for path in (one.path, one.to)
        ]
        for path in dict.fromkeys((done.path, done.to, *there)):
            if path is not None:
                yield FileRequest(
                    FileOperation.SWEEP, path, inferred=True, proof=sign, by=BulkCommand.ELSEWHERE
                )


def changes_unnamed(one: PlacedCommand) -> bool:
    """Whether a command changes a file whose name is not known: a shell makes it first (`$x`), or its folder is not known."""
    words = unwrapped(one.command.words)
    program = words[0].text.rpartition("/")[2] if words and words[0].plain else ""
    rule = PROGRAMS.get(program)
    changed = [
        word
        for effect, source, target in (rule(words[1:]) if rule is not None else ())
        for word in (source, target)
        if effect is not FileOperation.READ and word is not None
    ]
    changed += [
        redirection.target
        for redirection in one.command.redirections
        if ">" in redirection.sign and not redirection.target.text.startswith("/dev/")
    ]
    if program in ("cp", "rsync"):
        # The last operand may be a folder.
        changed += [word for word in words[1:] if not word.text.startswith("-")][-1:]
    if one.folder is None:
        return bool(changed) or bool(sweeps(program, words[1:]))
    return any(not (word.plain or word.glob) for word in changed)


def _effects_of(command: Command, here: str, proof: Proof, *, grouped: bool) -> Iterator[FileRequest]:
    """The effects of a command; `grouped`: its redirections are those of a group that ends here."""
    words = unwrapped(command.words)
    program = words[0].text.rpartition("/")[2] if words and words[0].plain else ""
    operands = words[1:]
    if proof is Proof.SILENCE and any("2" in one.sign or "&" in one.sign for one in command.redirections):
        # Its error messages go elsewhere.
        proof = Proof.NONE
    document = next((one.document for one in command.redirections if one.document is not None), None)
    fed = any(one.sign in {"<<", "<<-"} for one in command.redirections)
    yield from _of_folders(command, program, operands, here, proof)
    yield from _of_operands(program, operands, here, proof, document if fed else None)
    for name in files_changed(program, operands, document if fed else None):
        path = _place(ShellWord(name), here)
        if path is not None:
            yield FileRequest(FileOperation.CHANGE, path, True, proof=Proof.NONE)
    output = None if command.piped or grouped else _output(program, operands, document, fed)
    yield from _of_redirections(command, here, proof, output)


def _place(word: ShellWord, here: str) -> str | None:
    """The file that a word names; None where it names none, or one that cannot be known."""
    if not (word.plain or word.glob) or word.text in ("", ".", "..") or word.text.startswith("/dev/"):
        return None
    path = word.text
    return path if path.startswith("~") or not here else posixpath.join(here, path)


def _of_folders(
    command: Command, program: str, operands: Sequence[ShellWord], here: str, proof: Proof
) -> Iterator[FileRequest]:
    """The effects of a command on files that it does not name."""
    elsewhere = any(one.text.startswith("GIT_") for one in command.words)
    for swept in sweeps(program, operands):
        plain = swept.folder.plain
        yield FileRequest(
            FileOperation.STAGE if isinstance(swept.by, Staging) else FileOperation.SWEEP,
            posixpath.join(here, swept.folder.text) if plain else here or ".",
            inferred=True,
            proof=proof,
            by=swept.by,
            whole=swept.whole or not plain,
            home=(here or ".") if swept.understood and plain and not elsewhere else None,
        )


def _of_operands(
    program: str, operands: Sequence[ShellWord], here: str, proof: Proof, document: str | None
) -> Iterator[FileRequest]:
    """The effects of a program on the files among its operands; `document` is the text that it reads from its words."""
    rule = PROGRAMS.get(program)
    if rule is None:
        return
    if program == "git":
        operands, here = _of_git(operands, here)
    text = {"tee": document, "touch": _TOUCHED}.get(program)
    for effect, word, to in rule(operands):
        path, target = _place(word, here), _place(to, here) if to is not None else None
        if path is None or (to is not None and target is None):
            continue
        if effect is not FileOperation.READ and (word.glob or (to is not None and to.glob)):
            yield FileRequest(FileOperation.CHANGE, path, True, proof=proof, glob=True)
        elif not word.glob:
            git = program == "git"
            sweep = _OF_INDEX.get(operands[0].text) if git and effect is FileOperation.CHANGE else None
            yield FileRequest(effect, path, True, text, to=target, fresh=git, proof=proof, by=sweep)


def _of_git(words: Sequence[ShellWord], here: str) -> tuple[Sequence[ShellWord], str]:
    """The words from git's verb on, and the folder that its files are in: `-C` names another; no words where that is not known."""
    while len(words) > 1 and words[0].text in ("-C", "-c"):
        if words[0].text == "-C" and words[1].text != ".":
            folder = _place(words[1], here)
            if folder is None or words[1].glob:
                return (), here
            here = folder
        words = words[2:]
    return words, here


def _of_redirections(command: Command, here: str, proof: Proof, output: str | None) -> Iterator[FileRequest]:
    """The effects of redirections; `output` is the whole output of the command, where that is known."""
    for one in command.redirections:
        path = _place(one.target, here)
        if path is None or one.sign.startswith("<<"):
            continue
        if one.target.glob:
            if one.sign != "<":
                yield FileRequest(FileOperation.CHANGE, path, True, proof=proof, glob=True)
            continue
        if one.sign == "<":
            yield FileRequest(FileOperation.READ, path, True, proof=proof)
            continue
        operation = FileOperation.APPEND if one.sign.startswith(">>") else FileOperation.WRITE
        text = output if one.sign in (">", ">|", ">>") else None
        yield FileRequest(operation, path, True, text, proof=proof)


def _output(program: str, words: Sequence[ShellWord], document: str | None, fed: bool) -> str | None:
    """The output of a command, where its words tell it."""
    if program == "cat" and not words and fed:
        return document
    if program == "echo" and all(word.plain for word in words):
        texts = [word.text for word in words]
        newline = "\n"
        if texts and texts[0] == "-n":
            texts, newline = texts[1:], ""
        # Shells differ in whether they keep a backslash.
        if (texts and texts[0].startswith("-")) or any("\\" in text for text in texts):
            return None
        return " ".join(texts) + newline
    if program == "printf" and len(words) == 1 and words[0].plain and not re.search(r"[%\\]", words[0].text):
        return words[0].text
    if program in ("", ":", "true") and not words:
        return ""
    return None


_TOUCHED = ""
"""The text that `touch` appends; a missing file is created empty."""
_OF_INDEX = {"checkout": BulkCommand.CHECKOUT, "restore": BulkCommand.RESTORE}
"""Commands of git that restore named files: the sweep of the same command tells the content."""
_TOUCHES = late(
    r"<|>(?!&\d|\s*/dev/null\b)|\b(?:(?:"
    + one_of(
        [
            *(name for name in PROGRAMS if name not in ("git", "head", "tail", "wc", "sort")),
            "patch",
            "rsync",
            "tar",
            "unzip",
        ]
    )
    + r")|git\s+(?!(?:status|log|diff|show|branch|rev-parse|ls-files|blame|grep)\b)(?:-\S+\s+)*\w+|(?:head|tail|wc|sort)\b(?!(?:\s+-\w+(?:\s+\d+)?)*\s*(?:$|[|;&)\n])))\b"
)
"""Signs of a script that touches a file: most scripts have none. Filters without an operand touch none."""
