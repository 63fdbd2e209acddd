"""Commands that failed and were overcome: the same succeeded in other words, within another, or as part of a check of everything."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from leafward.files.checks import Check, check_of
from leafward.session.entries import text_of
from leafward.summaries.facts.values import Fact, FactKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.survival.spans import SpanMessage

_CHECKS = re.compile(
    r"(?i)(?:^|[\s:/_-])(?:tests?|check|lint|typecheck|build|compile|ci|pytest|tox|nox|mypy|ruff|tsc|tsgo|eslint|biome|vitest|jest|clippy|rspec)\b"
)
"""Words of commands that check whether the work is right."""
_ASIDE = re.compile(r"(?<=\s)[^\s|;&]*/[^\s|;&]*/[^\s|;&]*|(?<![\w./-])(?:gh|git)(?! diff --check) [^|;&]*")
"""An argument that is a path of several folders, whatever they are called, and a command about a history: a branch may have any name."""
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_BEFORE = re.compile(
    r"(?:(?:sudo|env|nohup)(?: -\S+)* |[A-Za-z_]\w*=\S* |timeout(?: -\S+)* \S+ |(?:uv|poetry|pipenv|pdm) run |npx |bunx |bundle exec |(?:\S*/)?python[\d.]* -m )+"
)
"""Words before the program of a command that run it in another environment."""
_ABSENT = re.compile(
    r"(?i)command not found|: not found$|\bis not recognized\b|missing script|no module named '?(?:pytest|mypy|ruff|tox|nox|build|pip)\b|make: \S+: no such file|could not find `cargo\.toml`|^dyld: library not loaded|error while loading shared libraries|command \"\S+\" not found",
    re.MULTILINE,
)
"""What a shell or a runner prints where the program of a check is not there: that says nothing of the work."""
_NOT_STARTED = frozenset({"exit 126", "exit 127"})
"""The exit codes with which a shell says so."""
_NEAR = 4
"""Messages from a call to its result."""
_WHOLE = re.compile(
    r"(?:npm|pnpm|yarn|bun|make|just|task|mise|turbo|cargo|go|tox|nox|mvn|gradle|\./gradlew|rake|composer|dotnet|mix|swift)"
    r"(?: run| r)?(?: [\w:-]+)?(?: \./\.\.\.)?(?: -\S+)*"
    r"|(?:npx )?(?:pytest|mypy|ruff check|tsc|tsgo|eslint|vitest(?: run)?|jest)(?: -\S+| \.)*"
)
"""A check of everything: no file, test or folder is named."""
_RUNS_IT = frozenset({"run", "r", "exec", "-m", "--", "&&", "test"})
"""Words of a check between the program and what is checked."""
_SIGN = re.compile(r"[>$] |&& ")
"""What runners of scripts and shells print before a command."""
_SHOWN = 400
"""Characters of a printed command that are compared."""
_ALIKE = 0.5
"""The part of a command's words that another try of it shares."""


def is_check(command: str) -> bool:
    """Whether a command checks whether the work is right, and does not only read something out of a folder of tests."""
    if _CHECKS.search(command) is None:
        return False
    run = _ASIDE.sub(" ", _QUOTED.sub(_without_text, command))
    return _CHECKS.search(run) is not None or check_of(command) is not None


def _without_text(quoted: re.Match[str]) -> str:
    """A quoted argument; nothing of one that has several words and is no command: what it says is not run."""
    text = quoted[1] or quoted[2] or ""
    return quoted[0] if " " not in text or check_of(text) is not None else " "


def end_of(evidence: Evidence, fact: Fact) -> int:
    """The position where a command ended last; it may be named behind that. -1 where that is not known."""
    return evidence.position.get(fact.ended, -1)


class Passed:
    """The commands of a span that succeeded."""

    def __init__(self, evidence: Evidence, messages: Sequence[SpanMessage]) -> None:
        """`evidence` has the facts of `messages`."""
        self._evidence, self._messages = evidence, messages
        self.checked = -1
        """Where a check passed last."""
        self._whole: dict[Check | None, int] = {}
        """By what they prove, where a check of everything passed last."""
        self._alike: dict[Check, int] = {}
        """By what they prove, where any check passed last."""
        self._by_program: dict[str, list[tuple[int, frozenset[str]]]] = {}
        self._by_word: dict[str, list[tuple[int, str]]] = {}
        for fact in evidence.facts.values():
            if fact.kind is not FactKind.COMMAND or fact.outcome != "exit 0":
                continue
            place = end_of(evidence, fact)
            self._by_program.setdefault(_program_of(fact.key), []).append((place, _words_of(fact.key)))
            self._by_word.setdefault(fact.key.rsplit(" ", 1)[-1], []).append((place, fact.key))
            if "|" in fact.key or not is_check(fact.key):
                continue
            self.checked = max(self.checked, place)
            if (proves := check_of(fact.key)) is not None:
                self._alike[proves] = max(place, self._alike.get(proves, -1))
            for part in fact.key.split(" && "):
                if _WHOLE.fullmatch(part):
                    proven = check_of(part)
                    self._whole[proven] = max(place, self._whole.get(proven, -1))

    def overcame(self, fact: Fact) -> bool:
        """Whether a command that failed succeeded later in other words, or as part of another, or all checks passed behind it."""
        place = end_of(self._evidence, fact)
        if self.checked > place and not is_check(fact.key):
            return True
        proven = check_of(fact.key)
        if proven is not None and (
            self._whole.get(proven, -1) > place
            or (self._alike.get(proven, -1) > place and self.did_not_run(fact))
        ):
            return True
        if any(
            later > place and _wraps(fact.key, key)
            for later, key in self._by_word.get(fact.key.rsplit(" ", 1)[-1], ())
        ):
            return True
        words = _words_of(fact.key)
        if any(
            later > place and len(words & other) >= _ALIKE * (min(len(words), len(other)) or 1)
            for later, other in self._by_program.get(_program_of(fact.key), ())
        ):
            return True
        return proven is not None and self._ran_within(fact.key, place)

    def did_not_run(self, fact: Fact) -> bool:
        """Whether a check failed because its program was not there, or did not start: that says nothing of the work."""
        place = end_of(self._evidence, fact)
        return fact.outcome in _NOT_STARTED or any(
            message.get("role") == "toolResult"
            and _ABSENT.search(text_of(message.get("content"))) is not None
            for _, message in self._messages[max(0, place) : place + _NEAR]
        )

    def _ran_within(self, command: str, place: int) -> bool:
        """Whether a script that ran a check ended well behind a position: runners of scripts print what they run."""
        bare = command.partition(" | ")[0].removeprefix("npx ").removeprefix("bunx ")[:_SHOWN]
        at = bisect_left(self._printed, (bare, -1))
        while at < len(self._printed) and self._printed[at][0].startswith(bare):
            if self._printed[at][1] > place:
                return True
            at += 1
        return False

    @cached_property
    def _printed(self) -> list[tuple[str, int]]:
        """In order, what stands behind the signs before commands in outputs of calls that ended well, and where it was printed last."""
        printed = {}
        for place, (_, message) in enumerate(self._messages):
            if message.get("role") == "toolResult" and not message.get("isError"):
                text = text_of(message.get("content"))
                for sign in _SIGN.finditer(text):
                    printed[text[sign.end() : sign.end() + _SHOWN]] = place
        return sorted(printed.items())


def _words_of(command: str) -> frozenset[str]:
    """The words of a command; those of a check that tell what it checks, and not only which program runs it."""
    words = _itself(command).split()
    if not is_check(command):
        return frozenset((_program_of(command), *words[1:]))
    return frozenset(words[1:]) - _RUNS_IT


def _program_of(command: str) -> str:
    """The program that a command begins with, whatever its folder."""
    return _itself(command).split(" ", 1)[0].rpartition("/")[2]


def _itself(command: str) -> str:
    """A command without what is said before its program."""
    before = _BEFORE.match(command)
    return command if before is None else command[before.end() :]


def _wraps(one: str, other: str) -> bool:
    """Whether one command is the other after a program that runs it, such as `sudo` or `npx`."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer.endswith(f" {shorter}") and " " in shorter
