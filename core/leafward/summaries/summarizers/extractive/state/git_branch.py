"""The branch of git that the session's repository is on, as the commands that switched to it tell."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from leafward.files.shell.lexer import Unreadable
from leafward.files.shell.script_walk import placed
from leafward.files.shell.wrappers import unwrapped
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.forms import forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.entries import EntryIndex

_SWITCHED = re.compile(r"(?m)^(?:Switched to (?:a new )?branch|Already on|Reset branch) '([^'\n]{1,200})'")
_SHOWN = re.compile(r"(?m)^(?:On branch (\S{1,200})$|\[(\S{1,200})(?: \(root-commit\))? [0-9a-f]{7,40}\] )")
"""The branch as `git status` and a commit print it."""
_NAME = re.compile(r"\w[\w./-]{1,80}(?<!/)")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_CREATES = frozenset({"-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"})


class GitBranches:
    """The last branch of each repository that commands name by its folder."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._on: dict[str, tuple[str, EntryIndex]] = {}
        """By the repository's folder, empty for the session's: the branch, which is empty where it is not known."""

    def add(self, command: str, folder: str, printed: str, entry: EntryIndex, *, failed: bool) -> None:
        """Adds the branches that a command switched to; of one that `failed` those of which the output says so."""
        seen = _SHOWN.search(printed) if self._on else None
        if "checkout" not in command and "switch" not in command and seen is None:
            return
        shown = frozenset(_SWITCHED.findall(printed))
        ran = list(_verbs(command, folder))
        found = [(there, name) for there, words in ran if (name := _branch(words)) is not None]
        if failed or any(name in shown for _, name in found):
            found = [one for one in found if one[1] in shown]
        for there, name in found:
            self._on[self._repository(there)] = (name, entry)
        places = {self._repository(there) for there, _ in ran}
        if seen is not None and not found and len(places) == 1 and not places.isdisjoint(self._on):
            # Somebody else switched.
            self._on[places.pop()] = (seen[1] or seen[2], entry)

    def told(self) -> tuple[str, EntryIndex] | None:
        """The branch of the session's repository in a line, else of the last other one, with its source; None where none is known."""
        where = "" if "" in self._on else next(reversed(self._on), "")
        name, entry = self._on.get(where, ("", NO_ENTRY))
        if not name:
            return None
        return f"On the git branch `{name}`{f' in `{where}`' if where else ''}", entry

    def _repository(self, folder: str) -> str:
        """The folder of a repository; empty where it is that of the session or around it."""
        path = forms.canonical_path(folder, self._cwd) if folder else "."
        whole = posixpath.normpath(posixpath.join(self._cwd, path))
        return "" if f"{self._cwd}/".startswith(f"{whole.removesuffix('/')}/") or path == "." else path


def _verbs(script: str, folder: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The words of the commands of git in a script from the verb on, each with the folder; `$` for one that the shell makes."""
    try:
        commands = list(placed(script, folder))
    except Unreadable:
        return
    for one in commands:
        words = unwrapped(one.command.words)
        if one.folder is None or not words or words[0].text != "git":
            continue
        here, rest = one.folder, words[1:]
        while len(rest) > 1 and rest[0].text in ("-C", "-c"):
            here = posixpath.join(here, rest[1].text) if rest[0].text == "-C" else here
            rest = rest[2:]
        yield here, [word.text if word.plain else "$" for word in rest]


def _branch(words: Sequence[str]) -> str | None:
    """The branch that a command of git switches to; empty where that is not known, None where it switches to none."""
    names = [word for word in words[1:] if not word.startswith("-") or word == "-"]
    creates = not _CREATES.isdisjoint(words)
    if words[:1] not in (["checkout"], ["switch"]) or "--" in words:
        return None
    if not names or (not creates and (len(names) > 1 or names[0].endswith("/") or "." in names[0])):
        # Files.
        return None
    known = _NAME.fullmatch(names[0]) is not None and _COMMIT.fullmatch(names[0]) is None
    return names[0] if known and names[0] != "HEAD" else ""
