"""Small choices remembered between two starts: the theme, the sort order of the catalogue."""

from __future__ import annotations

from typing import Any

from leafward.base.paths import make_private, state_dir
from leafward.base.regular_files import read_regular

FILE_NAME = "app.json"


class Memory:
    """Values by key in one file of the state folder. A file that cannot be read or written counts as empty."""

    def __init__(self) -> None:
        self._path = state_dir() / FILE_NAME
        self._values: dict[str, Any] | None = None

    def get(self, key: str) -> object:
        """The value under `key`; None where there is none."""
        if self._values is None:
            self._values = self._read()
        return self._values.get(key)

    def _read(self) -> dict[str, Any]:
        try:
            data = read_regular(self._path)
        except OSError:
            return {}
        # Imported only where there is a file to read: the first frame waits for this.
        import json

        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def keep(self, key: str, value: object) -> None:
        """Keeps a value that JSON can hold; what another application has kept meanwhile stays in the file."""
        kept = self._read()
        if key in kept and kept[key] == value:
            return
        self._values = {**(self._values or {}), **kept, key: value}
        import json

        from leafward.base.durable import replace_file

        try:
            make_private(self._path.parent)
            replace_file(self._path, json.dumps(self._values).encode("utf-8"))
        except OSError:
            return  # a choice that is not remembered is no reason to stop anything
