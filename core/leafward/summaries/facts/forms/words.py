"""Paths and names in a text, found word by word: the same words recur all the time, and their facts are cached."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.forms import Form
from leafward.summaries.facts.forms.spaced_paths import spaced_paths, without

_MOST = 1 << 15
"""Words that are cached for one way to read."""
_SHORTEST_FOLDER, _LONGEST_FOLDER = 3, 4096
"""Characters of a folder that is looked for: a system has no longer one, and an expression of one takes quadratic time."""
_LONGEST = 80
"""Characters of a word that is cached."""
_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})(?![A-Za-z0-9])")
_BARE = re.compile(r"[MDJGRLC][A-Za-z]{4}")
"""A part of the name of a file that needs no ending."""
_MAYBE_NAME = re.compile(
    # It begins with the characters that a part may have there: those between are skipped quickly.
    r"[A-Z_(@#-](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z]{2})[a-z]{2}|(?<=[A-Za-z0-9]_)[A-Za-z0-9]|(?<=\()\)|(?<=[A-Za-z0-9.]-)[A-Za-z0-9.]|(?<=--)[a-z]"
    r"|(?<=@)[a-z0-9]|(?<=#)[0-9])"
)
"""Parts of names: every name holds at least one, or seven digits of a commit."""
_MAYBE_COMMIT = re.compile(r"[0-9a-f][0-9a-f]{6}")

_BESIDE = re.compile(
    r"[\"'`(]{0,3}\.{1,2}/(?:\.{1,2}/)*(?:[A-Za-z0-9_@-]{1,80}/){0,20}[A-Za-z0-9_.@-]{1,80}[\"'`);,]{0,4}"
)
"""A word that is one path relative to the file that contains it, with quotes and brackets around it."""


class _Held(NamedTuple):
    paths: tuple[Form, ...]
    names: tuple[Form, ...]


class Words:
    """The facts of words in texts of one kind: the words that hold some, and those that hold none."""

    def __init__(self, cwd: str, *, relative: bool, calls: bool, names: bool) -> None:
        """`relative`: `./a` counts as a path; `calls`: `name()` counts as a name; `names`: names count at all."""
        self._cwd, self._relative, self._calls, self._names = cwd, relative, calls, names
        self._folder = _named(cwd)
        self._held: dict[str, _Held] = {}
        self._idle: set[str] = set()

    def read(self, text: str) -> tuple[list[Form], list[Form]]:
        """The paths of a text, and the names in the rest of it, each in order. Names have no offset."""
        spaced = list(spaced_paths(text, self._cwd))
        if spaced:
            text = without(text, spaced)
        words = text.split()
        idle, held = self._idle, self._held
        found: dict[str, _Held] = {}
        unknown = []
        for word in set(words).difference(idle):
            known = held.get(word)
            if known is not None:
                found[word] = known
            else:
                unknown.append(word)
        if unknown:
            if len(idle) + len(held) > _MOST:
                idle.clear()
                held.clear()
            for word in unknown:
                looked = self._look(word)
                if looked is not _NOTHING:
                    found[word] = looked
                    if len(word) <= _LONGEST:
                        held[word] = looked
                elif len(word) <= _LONGEST:
                    idle.add(word)
        paths: list[Form] = []
        names: list[Form] = []
        at = 0
        for word in filter(found.__contains__, words) if found else ():
            there = found[word]
            names += there.names
            if there.paths:
                at = forms.place_of(text, word, at)
                paths += [Form(form.text, form.key, at + form.start) for form in there.paths]
                at += len(word)
        return sorted([*paths, *spaced], key=lambda form: form.start) if spaced else paths, names

    def _look(self, word: str) -> _Held:
        paths: tuple[Form, ...] = ()
        if _may_be_path(word) and (self._relative or _BESIDE.fullmatch(word) is None):
            paths = (forms.paths_in if len(word) <= _LONGEST else forms.paths_in.__wrapped__)(word, self._cwd)
            if paths and not self._relative:
                paths = tuple(form for form in paths if not form.text.startswith(("./", "../")))
        if not self._names or (_MAYBE_NAME.search(word) is None and _MAYBE_COMMIT.search(word) is None):
            return _Held(paths, ()) if paths else _NOTHING
        read = forms.identifiers_in if len(word) <= _LONGEST else forms.identifiers_in.__wrapped__
        # Parts of paths are not names.
        rest = _without(word, paths) if paths else word
        if self._folder is not None:
            rest = self._folder.sub(" ", rest)
        if rest == word:
            names = read(word, self._calls)
        else:
            names = tuple(name for part in rest.split() for name in read(part, self._calls))
        return _Held(paths, names) if paths or names else _NOTHING


_NOTHING = _Held((), ())


def _named(cwd: str) -> re.Pattern[str] | None:
    """The folder as it stands in texts, and in JSON, where backslashes stand twice: its name is no name in the work there."""
    if not _SHORTEST_FOLDER <= len(cwd) <= _LONGEST_FOLDER:
        return None
    return re.compile(rf"(?:{re.escape(cwd)}|{re.escape(cwd.replace(chr(92), chr(92) * 2))})(?![\w-])")


def _may_be_path(word: str) -> bool:
    """Whether a word may hold a path: each has a slash, the ending of a file, or the name of a file without one."""
    if "/" in word or "\\" in word or _BARE.search(word) is not None:
        return True
    return "." in word and not forms.EXTENSIONS.isdisjoint(map(str.lower, _ENDING.findall(word)))


@lru_cache(maxsize=16)
def words(cwd: str, *, relative: bool, calls: bool, names: bool) -> Words:
    """The cache of words for texts that are read in one way."""
    return Words(cwd, relative=relative, calls=calls, names=names)


def _without(text: str, found: tuple[Form, ...]) -> str:
    """A text without its paths."""
    parts = []
    last = 0
    for form in found:
        parts.append(text[last : form.start])
        last = form.start + len(form.text)
    parts.append(text[last:])
    return " ".join(parts)
