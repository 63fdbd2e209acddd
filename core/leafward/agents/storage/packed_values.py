"""The values of a reader as bytes for a cache, so that a later process goes on where the reading ended.

The bytes can make nothing but containers and the classes that the reader lists: whoever writes to the cache gets no code to run.
"""

from __future__ import annotations

import io
import pickle
from types import FunctionType, MethodType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_CONTAINERS = frozenset({"array:array", "array:_array_reconstructor", f"{__name__}:method_of"})


def packed(value: object) -> bytes:
    """A value of the listed classes, and of containers, as bytes."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, 5)
    pickler.dispatch_table = {MethodType: lambda method: (method_of, (method.__self__, method.__name__))}
    pickler.dump(value)
    return file.getvalue()


def unpacked(data: bytes, classes: Collection[str]) -> object:
    """The value that was packed; `classes` are names such as `module:Class`. Raises ValueError for damaged bytes or any other class."""
    try:
        return _Unpickler(data, classes).load()
    except Exception as error:  # damaged bytes raise whatever the classes raise for their values
        raise ValueError(f"no packed value: {error}") from error


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, classes: Collection[str]) -> None:
        super().__init__(io.BytesIO(data))
        self._classes = classes

    def find_class(self, module: str, name: str, /) -> object:
        """A listed class, by its module and name."""
        full = f"{module}:{name}"
        if full not in _CONTAINERS and full not in self._classes:
            raise pickle.UnpicklingError(f"{full} is not listed")
        return super().find_class(module, name)


def method_of(owner: object, name: str) -> object:
    """A method that a value keeps of another one. Stored bytes name this function."""
    if not isinstance(getattr(type(owner), name, None), FunctionType):
        raise TypeError(f"{name} is no method")
    return getattr(owner, name)
