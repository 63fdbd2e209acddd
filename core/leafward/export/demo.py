"""The bundled session, copied to a temporary folder laid out as a store of pi, where users can try things."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.base.errors import LeafwardError
from leafward.base.paths import temporary_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator


def demo_text() -> str:
    """The lines of the demo session. Raises LeafwardError where the file is missing."""
    try:
        return files("leafward").joinpath("data", "demo.jsonl").read_text("utf-8")
    except OSError as error:
        raise LeafwardError(f"the demo session is not part of this installation: {error.strerror}") from error


@contextmanager
def demo_session() -> Iterator[Path]:
    """A private copy of the demo session, removed when the context ends.

    Raises LeafwardError where the file is missing.
    """
    data = demo_text().encode()
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("demo-"), ignore_cleanup_errors=True) as folder:
        header: dict[str, Any] = json.loads(data.partition(b"\n")[0])
        place = Path(folder, "sessions", store_folder(header["cwd"]))
        place.mkdir(parents=True, mode=0o700)
        stamp = str(header["timestamp"]).replace(":", "-").replace(".", "-")
        path = place / f"{stamp}_{header['id']}.jsonl"
        path.write_bytes(data)
        path.chmod(0o600)
        yield path


def store_folder(cwd: str) -> str:
    """The name of pi's folder for the sessions of a working folder (pi 1.5.2)."""
    inside = cwd[1:] if cwd[:1] in {"/", "\\"} else cwd
    for separator in "/\\:":
        inside = inside.replace(separator, "-")
    return f"--{inside}--"
