"""Commands that may change any of the files below a folder, which their words do not name."""

from __future__ import annotations

import itertools
import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.shell.lexing import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Sweep(StrEnum):
    """What such a command is called."""

    SWITCH = "git switch"
    RESTORE = "git restore"
    STASH = "git stash"
    POP = "git stash pop"
    RESET = "git reset"
    MERGE = "git merge"
    PULL = "git pull"
    REBASE = "git rebase"
    CHERRY_PICK = "git cherry-pick"
    REVERT = "git revert"
    APPLY = "git apply"
    AM = "git am"
    COPY = "cp -r"
    PATCH = "patch"
    RSYNC = "rsync"
    UNPACK = "unpacking"


class Swept(NamedTuple):
    """Where a command may have changed files."""

    by: Sweep
    folder: Word
    """Or a file: it and all that lies below it."""
    whole: bool = False
    """Whether it is all of the repository that the folder belongs to."""


HERE = Word(".")


def sweeps(program: str, words: Sequence[Word]) -> list[Swept]:
    """Where a command may change files below a folder; `words` are those behind the program."""
    if program == "git":
        return _git(words)
    rule = _RULES.get(program)
    return rule(words) if rule is not None else []


def _operands(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if not word.text.startswith("-")]


def _has(words: Sequence[Word], *options: str) -> bool:
    """Whether one of some options is given; short ones may stand together."""
    letters = "".join(one[1] for one in options if len(one) == 2)
    short = re.compile(f"-[a-zA-Z]*[{letters}]") if letters else None
    return any(
        word.text.partition("=")[0] in options or (short is not None and short.match(word.text))
        for word in words
    )


def _git(words: Sequence[Word]) -> list[Swept]:
    folder, place = HERE, 0
    while place < len(words) and words[place].text.startswith("-"):
        valued = words[place].text in ("-C", "-c")
        if words[place].text == "-C" and place + 1 < len(words):
            folder = words[place + 1]
        place += 1 + valued
    if place >= len(words):
        return []
    verb, rest = words[place].text, words[place + 1 :]
    rule = _VERBS.get(f"git {verb}")
    if rule is None:
        return []
    found = rule(rest)
    return [one._replace(folder=folder, whole=True) for one in found[:1]] if folder is not HERE else found


def _whole(by: Sweep, *but: str) -> Callable[[Sequence[Word]], list[Swept]]:
    def rule(words: Sequence[Word]) -> list[Swept]:
        return [] if _has(words, *but) else [Swept(by, HERE, True)]

    return rule


def _places(by: Sweep, words: Sequence[Word]) -> list[Swept]:
    """Paths as git takes them: what is a pattern may be anywhere."""
    if any(not word.plain or re.search(r"[*?\[:]", word.text) for word in words):
        return [Swept(by, HERE, True)]
    return [Swept(by, word) for word in words]


def _switch(words: Sequence[Word]) -> list[Swept]:
    created = _has(words, "-c", "-C", "--create", "--force-create", "--orphan")
    return [] if created and len(_operands(words)) < 2 else [Swept(Sweep.SWITCH, HERE, True)]


def only_staged(words: Sequence[Word]) -> bool:
    """Whether `git restore` leaves the files as they are."""
    return _has(words, "--staged", "-S") and not _has(words, "--worktree", "-W")


def _restore(words: Sequence[Word]) -> list[Swept]:
    if only_staged(words):
        return []
    paths = [
        word
        for before, word in zip((Word(), *words), words, strict=False)
        if not word.text.startswith("-") and before.text not in ("-s", "--source")
    ]
    return _places(Sweep.RESTORE, paths)


def _stash(words: Sequence[Word]) -> list[Swept]:
    verb = next((word.text for word in words if not word.text.startswith("-")), "push")
    idle = verb in ("list", "show", "drop", "clear", "create", "store")
    return [] if idle else [Swept(Sweep.POP if verb in ("pop", "apply") else Sweep.STASH, HERE, True)]


def _reset(words: Sequence[Word]) -> list[Swept]:
    return [Swept(Sweep.RESET, HERE, True)] if _has(words, "--hard", "--merge", "--keep") else []


def _copy(words: Sequence[Word]) -> list[Swept]:
    deep = any(re.fullmatch(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive", word.text) for word in words)
    return _into(Sweep.COPY, _operands(words)[1:]) if deep else []


def _rsync(words: Sequence[Word]) -> list[Swept]:
    return [] if _has(words, "-n", "--dry-run") else _into(Sweep.RSYNC, _operands(words)[1:])


def _into(by: Sweep, operands: Sequence[Word]) -> list[Swept]:
    """What goes to the last operand."""
    return [Swept(by, operands[-1])] if operands and operands[-1].plain else []


def _patch(words: Sequence[Word]) -> list[Swept]:
    return [] if _has(words, "--dry-run", "--check") else [Swept(Sweep.PATCH, HERE)]


def _unpack(words: Sequence[Word]) -> list[Swept]:
    into = [word for before, word in itertools.pairwise(words) if before.text in ("-C", "-d", "--directory")]
    return [Swept(Sweep.UNPACK, into[0] if into and into[0].plain else HERE)]


def _tar(words: Sequence[Word]) -> list[Swept]:
    unpacks = words and (
        re.fullmatch(r"-?[a-zA-Z]*x[a-zA-Z]*", words[0].text) or _has(words, "-x", "--extract")
    )
    return _unpack(words) if unpacks else []


_VERBS: dict[str, Callable[[Sequence[Word]], list[Swept]]] = {
    Sweep.SWITCH: _switch,
    Sweep.RESTORE: _restore,
    Sweep.STASH: _stash,
    Sweep.RESET: _reset,
    Sweep.APPLY: _whole(Sweep.APPLY, "--check", "--stat", "--numstat", "--summary", "--cached"),
    **{
        by: _whole(by)
        for by in (Sweep.MERGE, Sweep.PULL, Sweep.REBASE, Sweep.CHERRY_PICK, Sweep.REVERT, Sweep.AM)
    },
}
_RULES: dict[str, Callable[[Sequence[Word]], list[Swept]]] = {
    "cp": _copy,
    "patch": _patch,
    "rsync": _rsync,
    "tar": _tar,
    "unzip": _unpack,
}
