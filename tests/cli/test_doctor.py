"""The doctor's report on a session that is damaged in every way at once."""

from __future__ import annotations

from importlib.resources import files
from shlex import quote
from typing import TYPE_CHECKING

from screenshots.damaged import damaged

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Run


def test_each_damage_is_named_with_its_place(tmp_path: Path, done: Run, snapshot: SnapshotAssertion) -> None:
    data = damaged(files("leafward").joinpath("data", "demo.jsonl").read_bytes())
    path = tmp_path / "demo.jsonl"
    path.write_bytes(data)
    assert (
        done("doctor", path).out.replace(quote(str(path)), path.name).replace(str(path), path.name)
        == snapshot
    )
    assert path.read_bytes() == data
