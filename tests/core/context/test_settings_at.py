"""The model in use at an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.context.model_context import context_at
from tests.acting import reading
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("named", "model"),
    [
        ({}, ("grove", "pear-1")),
        ({"provider": "orchard", "model": "plum-2"}, ("orchard", "plum-2")),
        ({"model": "plum-2"}, (None, "plum-2")),
        ({"provider": None, "model": None}, ("grove", "pear-1")),
    ],
)
def test_a_reply_that_names_no_model_has_the_one_that_was_chosen(
    tmp_path: Path, named: dict[str, Any], model: tuple[str | None, str]
) -> None:
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.entry("model_change", provider="grove", modelId="pear-1")
    file.user("hello")
    file.entry("message", message={"role": "assistant", "content": [{"type": "text", "text": "Hi"}], **named})
    with reading(file.path) as session:
        context = context_at(session)
        assert (context.provider, context.model) == model


def test_a_reply_that_names_no_model_has_that_of_the_reply_before_it(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.entry("model_change", provider="grove", modelId="pear-1")
    for named in ({"provider": "orchard", "model": "plum-2"}, {"provider": "grove"}, {}):
        file.user("hello")
        content = [{"type": "text", "text": "Hi"}]
        file.entry("message", message={"role": "assistant", "content": content, **named})
    with reading(file.path) as session:
        context = context_at(session)
        assert (context.provider, context.model) == ("orchard", "plum-2")


def test_beyond_many_replies_that_name_no_model_a_chosen_one_is_found(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": str(tmp_path)})
    file.entry("model_change", provider="grove", modelId="pear-1")
    for _ in range(40):
        file.user("hello")
        file.entry("message", message={"role": "assistant", "content": [{"type": "text", "text": "Hi"}]})
    with reading(file.path) as session:
        context = context_at(session)
        assert (context.provider, context.model) == ("grove", "pear-1")
