"""Folders that the configuration excludes are neither listed nor remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.catalogue.exclusions import Exclusion
from tests.core.catalogued import listed
from tests.core.listed_sessions import Draft

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (("/home/ada/private",), "/home/ada/private/x/y", True),
        (("/home/ada/private",), "/home/ada/private2", False),
        (("~/private",), "/home/ada/private", True),
        (("private",), "/srv/private/x", True),
        (("scratch-*",), "/srv/scratch-1/x", True),
        (("scratch-*",), "/srv/my-scratch-1/x", False),
        (("/srv/*/tmp",), "/srv/a/tmp/x", True),
        (("/srv/*/tmp",), "/srv/a/b/tmp", False),
        (("/srv/**/tmp",), "/srv/a/b/tmp", True),
        (("/srv/**/tmp",), "/srv/tmp", True),
        (("/srv/[ab]?",), "/srv/a1", True),
        (("/srv/[!ab]?",), "/srv/a1", False),
        (("~/private", "!~/private/open"), "/home/ada/private/open/x", False),
        (("~/private", "!~/private/open"), "/home/ada/private/other", True),
        (("", "#", "!", "["), "/srv/x", False),
    ],
)
def test_patterns(patterns: tuple[str, ...], path: str, expected: bool) -> None:
    assert Exclusion(patterns, {"HOME": "/home/ada"})(path) is expected


def test_nothing_that_was_said_in_an_excluded_project_is_kept(store: Path) -> None:
    for name in ("secret", "open"):
        draft = Draft(f"{name}0001", cwd=f"/home/ada/{name}")
        draft.user(f"words of {name}")
        draft.assistant("reply", calls=(("edit", f"{name}.py"),))
        draft.write(store / name / f"{name}.jsonl")
    roots = {"pi": (str(store),)}
    before = listed(roots=roots)
    assert b"words of secret" in before.index.path.read_bytes()
    after = listed(roots=roots, exclude=("secret",))
    assert ([card.project for card in after.cards()], after.excluded) == (["/home/ada/open"], 1)
    text = after.index.path.read_bytes()
    assert b"words of secret" not in text
    assert b"secret.py" not in text
    assert b"words of open" in text
    back = listed(roots=roots)
    assert (len(back.cards()), back.excluded) == (2, 0)


def test_an_excluded_project_is_found_out_by_a_look_and_then_left_alone(store: Path) -> None:
    draft = Draft("secret01", cwd="/home/ada/secret")
    draft.user("words")
    path = draft.write(store / "x" / "a.jsonl")
    settings = {"roots": {"pi": (str(store),)}, "exclude": ("/home/ada/secret",)}
    first = listed(**settings)
    assert (first.work.peeked, first.work.read_whole, first.cards(), first.excluded) == (1, 0, [], 1)
    again = listed(**settings)
    assert (again.work.peeked, again.work.read_whole, again.excluded) == (0, 0, 1)
    path.unlink()
    again.refresh()
    assert again.excluded == 0


def test_a_folder_of_a_store_can_be_excluded(store: Path) -> None:
    for name in ("a", "b"):
        draft = Draft(f"{name}0001", cwd="/p")
        draft.user(name)
        draft.write(store / name / "s.jsonl")
    found = listed(roots={"pi": (str(store),)}, exclude=(str(store / "a"),))
    assert ([card.prompt for card in found.cards()], found.excluded, found.work.peeked) == (["b"], 1, 1)
