"""Commands that may change any of the files below a folder without naming them."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_request import BulkCommand, Staging
from leafward.files.shell.formatters import formatted
from leafward.files.shell.lexer import ShellWord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Swept(NamedTuple):
    """A place where a command may have changed files, or git's index of them."""

    by: BulkCommand | Staging
    folder: ShellWord
    """A folder or a file: it and everything below it."""
    whole: bool = False
    """Whether it is the whole repository that the folder belongs to."""
    understood: bool = False
    """Whether its words tell everything that it does to the index, or does by it."""


HERE = ShellWord(".")


def sweeps(program: str, words: Sequence[ShellWord]) -> list[Swept]:
    """The places where a command may change files below a folder; `words` are those after the program."""
    if program == "git":
        return _git(words)
    rule = _RULES.get(program)
    if rule is not None:
        return rule(words)
    places = formatted(program, words)
    return [Swept(BulkCommand.FORMATTER, one or HERE) for one in places or ()]


def _operands(words: Sequence[ShellWord]) -> list[ShellWord]:
    return [word for word in words if not word.text.startswith("-")]


def _has(words: Sequence[ShellWord], *options: str) -> bool:
    """Whether one of some options is given; short ones may be combined."""
    letters = "".join(one[1] for one in options if len(one) == 2)
    short = re.compile(f"-[a-zA-Z]*[{letters}]") if letters else None
    return any(
        word.text.partition("=")[0] in options or (short is not None and short.match(word.text))
        for word in words
    )


def _git(words: Sequence[ShellWord]) -> list[Swept]:
    folder, place, plain = HERE, 0, True
    while place < len(words) and words[place].text.startswith("-"):
        valued = words[place].text in ("-C", "-c")
        after = words[place + 1].text if place + 1 < len(words) else ""
        plain = plain and words[place].text == "-c" and after.startswith("user.")
        if words[place].text == "-C" and place + 1 < len(words):
            folder = words[place + 1]
        place += 1 + valued
    if place >= len(words):
        return []
    verb, rest = words[place].text, words[place + 1 :]
    rule = _VERBS.get(f"git {verb}")
    found = rule(rest) if rule is not None else []
    if not found:
        return [] if verb in _IDLE or rule in _QUIET else [Swept(Staging.OTHER, HERE, True)]
    if not plain:
        found = [one._replace(understood=False) for one in found]
    return [one._replace(folder=folder, whole=True) for one in found[:1]] if folder is not HERE else found


def _whole(by: BulkCommand, *but: str) -> Callable[[Sequence[ShellWord]], list[Swept]]:
    def rule(words: Sequence[ShellWord]) -> list[Swept]:
        return [] if _has(words, *but) else [Swept(by, HERE, True)]

    return rule


def _places(by: BulkCommand | Staging, words: Sequence[ShellWord]) -> list[Swept]:
    """Paths as git takes them: a pattern may match anywhere."""
    if any(not word.plain or re.search(r"[*?\[:]", word.text) for word in words):
        return [Swept(by, HERE, True)]
    return [Swept(by, word) for word in words]


def _checkout(words: Sequence[ShellWord]) -> list[Swept]:
    by, operands = BulkCommand.CHECKOUT, [word for word in words if not re.match("-.", word.text)]
    dashes = next((place for place, word in enumerate(words) if word.text == "--"), len(words))
    before = words[:dashes]
    understood = all(
        word.text in ("-q", "--quiet", "-f", "--force") for word in before if word not in operands
    )
    if dashes < len(words):
        from_index = understood and not any(word in operands for word in before)
        return [
            one._replace(understood=from_index and not one.whole) for one in _places(by, words[dashes + 1 :])
        ]
    if _has(words, "-b", "-B", "--orphan"):
        return [Swept(by, HERE, True)] if len(operands) > 1 or _has(words, "-f", "--force") else []
    if len(operands) > 1:
        return _places(by, operands)
    if not operands:
        return [Swept(by, HERE, True)] if not understood or _has(words, "-f", "--force") else []
    (one,) = _places(by, operands)
    # Except for the folder itself, the word may be a branch: the output tells which (`replay`).
    return [
        one._replace(
            whole=one.whole or one.folder.text not in (".", "./"), understood=understood and not one.whole
        )
    ]


def _clean(words: Sequence[ShellWord]) -> list[Swept]:
    if _has(words, "-n", "--dry-run") or not _has(words, "-f", "--force"):
        return []
    paths, options = _operands(words), [word.text for word in words if word.text.startswith("-")]
    understood = all(re.fullmatch("-[fdqx]+|--|--force|--quiet", one) for one in options)
    by = BulkCommand.CLEAN_IGNORED if _has(words, "-x", "-X") else BulkCommand.CLEAN
    found = _places(by, paths) if paths else [Swept(by, HERE)]
    return [one._replace(understood=understood and not one.whole) for one in found]


def _add(words: Sequence[ShellWord]) -> list[Swept]:
    paths, options = _operands(words), {word.text for word in words if word.text.startswith("-")}
    tracked = bool(options & {"-u", "--update"})
    if not options <= {"-A", "--all", "-u", "--update", "-v", "--verbose", "-f", "--force", "--"}:
        return []
    by = Staging.TRACKED if tracked else Staging.ADDED
    if not paths:
        return [Swept(by, HERE, True, True)] if tracked or options & {"-A", "--all"} else []
    found = _places(by, paths)
    return [] if any(one.whole for one in found) else [one._replace(understood=True) for one in found]


def _commit(words: Sequence[ShellWord]) -> list[Swept]:
    rest, every = iter(words), False
    for word in rest:
        if re.fullmatch("-[aqsvn]*m", word.text) or word.text == "--message":
            next(rest, None)
        elif not re.fullmatch(
            "-[aqsvn]+|-[aqsvn]*m.+|--(?:all|quiet|amend|no-edit|no-verify|signoff|allow-empty|message=.*)",
            word.text,
            re.DOTALL,
        ):
            return [Swept(Staging.OTHER, HERE, True)]
        every = every or word.text == "--all" or re.match("-[qsvn]*a", word.text) is not None
    return [Swept(Staging.TRACKED, HERE, True, True)] if every else []


def _switch(words: Sequence[ShellWord]) -> list[Swept]:
    created = _has(words, "-c", "-C", "--create", "--force-create", "--orphan")
    return [] if created and len(_operands(words)) < 2 else [Swept(BulkCommand.SWITCH, HERE, True)]


def only_staged(words: Sequence[ShellWord]) -> bool:
    """Whether `git restore` leaves the files unchanged."""
    return _has(words, "--staged", "-S") and not _has(words, "--worktree", "-W")


def _restore(words: Sequence[ShellWord]) -> list[Swept]:
    if only_staged(words):
        return []
    paths = [
        word
        for before, word in zip((ShellWord(), *words), words, strict=False)
        if not word.text.startswith("-") and before.text not in ("-s", "--source")
    ]
    # It restores from the index like `git checkout` of paths; a path is never taken for a branch.
    options = {word.text for word in words if word.text.startswith("-")}
    understood = options <= {"-q", "--quiet", "-W", "--worktree", "--"}
    return [
        one._replace(understood=understood and not one.whole) for one in _places(BulkCommand.RESTORE, paths)
    ]


def _stash(words: Sequence[ShellWord]) -> list[Swept]:
    verb = next((word.text for word in words if not word.text.startswith("-")), "push")
    idle = verb in ("list", "show", "drop", "clear", "create", "store")
    return (
        []
        if idle
        else [Swept(BulkCommand.POP if verb in ("pop", "apply") else BulkCommand.STASH, HERE, True)]
    )


def _reset(words: Sequence[ShellWord]) -> list[Swept]:
    return [Swept(BulkCommand.RESET, HERE, True)] if _has(words, "--hard", "--merge", "--keep") else []


def _copy(words: Sequence[ShellWord]) -> list[Swept]:
    deep = any(re.fullmatch(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive", word.text) for word in words)
    return _into(BulkCommand.COPY, _operands(words)[1:]) if deep else []


def _rsync(words: Sequence[ShellWord]) -> list[Swept]:
    return [] if _has(words, "-n", "--dry-run") else _into(BulkCommand.RSYNC, _operands(words)[1:])


def _into(by: BulkCommand, operands: Sequence[ShellWord]) -> list[Swept]:
    """A command that may change anything below its last operand, which may lie on another machine."""
    there = operands[-1] if operands else None
    local = there is not None and there.plain and _REMOTE.match(there.text) is None
    return [Swept(by, there)] if there is not None and local else []


_REMOTE = re.compile(r"[^/:]+:|rsync://")


def _patch(words: Sequence[ShellWord]) -> list[Swept]:
    return [] if _has(words, "--dry-run", "--check") else [Swept(BulkCommand.PATCH, HERE)]


def _unzip(words: Sequence[ShellWord]) -> list[Swept]:
    """Nothing where it lists, tests or prints what is in the archive."""
    return [] if _has(words[:1], "-l", "-p", "-t", "-v", "-Z", "-c", "-z") else _unpack(words)


def _unpack(words: Sequence[ShellWord]) -> list[Swept]:
    into = [word for before, word in itertools.pairwise(words) if before.text in ("-C", "-d", "--directory")]
    return [Swept(BulkCommand.UNPACK, into[0] if into and into[0].plain else HERE)]


def _tar(words: Sequence[ShellWord]) -> list[Swept]:
    unpacks = words and (
        re.fullmatch(r"-?[a-zA-Z]*x[a-zA-Z]*", words[0].text) or _has(words, "-x", "--extract")
    )
    return _unpack(words) if unpacks and not _has(words, "--to-stdout") else []


_VERBS: dict[str, Callable[[Sequence[ShellWord]], list[Swept]]] = {
    "git add": _add,
    "git commit": _commit,
    BulkCommand.CHECKOUT: _checkout,
    BulkCommand.CLEAN: _clean,
    BulkCommand.SWITCH: _switch,
    BulkCommand.RESTORE: _restore,
    BulkCommand.STASH: _stash,
    BulkCommand.RESET: _reset,
    BulkCommand.APPLY: _whole(BulkCommand.APPLY, "--check", "--stat", "--numstat", "--summary", "--cached"),
    **{
        by: _whole(by)
        for by in (
            BulkCommand.MERGE,
            BulkCommand.PULL,
            BulkCommand.REBASE,
            BulkCommand.CHERRY_PICK,
            BulkCommand.REVERT,
            BulkCommand.AM,
        )
    },
}
_QUIET = (_commit, _checkout, _clean, _switch)
"""Rules whose empty result means that the index stays unchanged, too."""
_IDLE = frozenset({
    "status", "log", "diff", "show", "branch", "tag", "fetch", "push", "remote", "rev-parse", "rev-list",
    "ls-files", "ls-tree", "blame", "grep", "describe", "shortlog", "reflog", "cat-file", "show-ref",
    "merge-base", "for-each-ref", "check-ignore", "whatchanged", "version", "help", "diff-tree"
})  # fmt: skip
"""Commands of git that change neither files nor the index."""
KNOWN_VERBS = _IDLE | {one.removeprefix("git ") for one in _VERBS} | frozenset({
    "mv", "rm", "init", "config", "gc", "prune", "fsck", "notes", "update-index", "hash-object", "write-tree", "commit-tree",
    "update-ref", "symbolic-ref", "name-rev", "count-objects", "verify-commit", "cherry", "range-diff", "var", "worktree", "clone"
})  # fmt: skip
"""Commands of git whose changes to existing files are known; others, and names of the user's own, may do anything."""
_RULES: dict[str, Callable[[Sequence[ShellWord]], list[Swept]]] = {
    "cp": _copy,
    "patch": _patch,
    "rsync": _rsync,
    "tar": _tar,
    "unzip": _unzip,
}
