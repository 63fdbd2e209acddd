"""The head of a rule file: a little YAML between two lines of `---`, read only as texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from leafward.base.late_pattern import late

_END = late(r"^---\s*$")
_TRUE = frozenset({"true", "yes", "on"})

Value = str | bool | None | list[str]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file, and the text after it."""

    values: dict[str, Value] = field(default_factory=dict)
    """Scalars and lists of scalars as texts, truth values as such; anything else is left out."""
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each key, from 1."""
    body: str = ""
    problem: str = ""
    """The fault in the head; empty if there is none, or if there is no head."""


def read_head(text: str) -> Head:
    """The head of a file. It begins on the first line and ends on a line of its own, both `---`."""
    lines = text.split("\n")
    if not _END.match(lines[0]):
        return Head(body=text)
    end = next((number for number in range(1, len(lines)) if _END.match(lines[number])), None)
    if end is None:
        return Head(body=text, problem="its front matter is never closed")
    # Slow to import, and few workspaces have rules.
    import yaml

    body = "\n".join(lines[end + 1 :])
    try:
        # Only nodes are composed: no object is constructed, and an alias costs nothing however often it is used.
        node = yaml.compose("\n".join(lines[1:end]), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        place = f" on line {error.problem_mark.line + 2}" if error.problem_mark is not None else ""
        return Head(body=body, problem=f"its front matter is not YAML{place}")
    except (yaml.YAMLError, RecursionError):
        return Head(body=body, problem="its front matter is not YAML")
    if node is None:
        return Head(body=body)
    if not isinstance(node, yaml.MappingNode):
        return Head(body=body, problem="its front matter has no keys")
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            places[key.value] = key.start_mark.line + 2
            if isinstance(value, yaml.ScalarNode):
                values[key.value] = _scalar(value.tag, value.value)
            elif isinstance(value, yaml.SequenceNode):
                scalars = (one for one in value.value if isinstance(one, yaml.ScalarNode))
                values[key.value] = [one.value for one in scalars if one.value and not _is_null(one.tag)]
    return Head(values, places, body)


def _is_null(tag: str) -> bool:
    return tag.endswith(":null")


def _scalar(tag: str, text: str) -> str | bool | None:
    if tag.endswith(":bool"):
        return text.lower() in _TRUE
    return None if _is_null(tag) else text
