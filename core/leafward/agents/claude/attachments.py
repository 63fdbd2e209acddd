"""Attachments whose wording for the model Claude Code stores only since 2.1.3xx: the content of their fields.

Claude Code's own sentences around them are not repeated here. Only white space stands between two fields, so that a text
found here is also found in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SELECTED = 2000
"""Characters of a selection that are sent."""
_LISTED = 200
"""Files and remarks that are included."""


def _field(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda fields: _text(fields.get(name))


def _selection(fields: Mapping[str, Any]) -> str:
    """The file, the lines, and their text."""
    first, last = fields.get("lineStart"), fields.get("lineEnd")
    lines = f"lines {first} to {last}" if type(first) is int and type(last) is int else ""
    return _joined(
        "\n",
        " ".join(filter(None, (_text(fields.get("filename")), lines))),
        _text(fields.get("content"))[:_SELECTED],
    )


def _diagnostics(fields: Mapping[str, Any]) -> str:
    """Each file with the editor's diagnostics."""
    found = []
    for file in _dicts(fields.get("files")):
        remarks = [
            _joined(" ", _text(one.get("severity")), _text(one.get("message")))
            for one in _dicts(file.get("diagnostics"))
        ]
        if any(remarks):
            found.append(_joined("\n", _text(file.get("uri")).removeprefix("file://"), *remarks))
    return "\n".join(found)


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in (value if isinstance(value, list) else ())[:_LISTED] if isinstance(one, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _joined(separator: str, *parts: str) -> str:
    return separator.join(filter(None, parts))


WORDS_OF: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "opened_file_in_ide": _field("filename"),
    "selected_lines_in_ide": _selection,
    "diagnostics": _diagnostics,
    "date_change": _field("newDate"),
    "compact_file_reference": _field("filename"),
}
"""By type, the text of an attachment for the model; empty where its fields are empty."""
