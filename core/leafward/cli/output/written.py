"""What a verb has written, said by an error of what follows: nobody must take it for not done and ask again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafward.base.errors import OutputFailed, Refused, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def failed_after(done: str, error: OSError | OutputFailed) -> Refused:
    """The error of a verb that wrote something and failed then; `done` says what it wrote, and where."""
    step = "the report failed" if isinstance(error, OutputFailed) else "what follows failed"
    return Refused(f"{done}, but {step}: {reason_of(error)}")


@contextmanager
def after(done: str) -> Iterator[None]:
    """The report of what was written, empty if nothing was. Raises Refused, as `failed_after` has it, where it fails."""
    try:
        yield
    except (OSError, OutputFailed) as error:
        if not done:
            raise
        raise failed_after(done, error) from error
