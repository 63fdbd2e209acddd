"""Make recorded sessions fit to be stored: ``scrub.py <work folder of record.mjs> <folder to write>``.

The scratch folder disappears from every path, text that belongs to the vendor (system prompt, tool
descriptions, the opening of a branch summary) becomes filler of the same UTF-16 length, and two
sessions are written once more in the shapes of format versions 1 and 2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

OWN_PROMPT = "Ada's orchard helper."
KEPT_SECTIONS = ("cwd",)
SUMMARY_START = "## "
FILLER = "Filler of the same length stands here. "


def filler(text: str) -> str:
    """Neutral words with the UTF-16 length of ``text``."""
    length = len(text.encode("utf-16-le")) // 2
    return (FILLER * (length // len(FILLER) + 1))[:length]


def scrub_system(message: dict[str, Any]) -> None:
    """Replace prompt sections and tool descriptions in place."""
    if message["content"] and not message["content"].startswith(OWN_PROMPT):
        message["content"] = filler(message["content"])
    for name, text in (message.get("sections") or {}).items():
        if text and name not in KEPT_SECTIONS and not text.startswith(OWN_PROMPT):
            message["sections"][name] = filler(text)
    for tool in message.get("toolsAdded") or []:
        replace_descriptions(tool)


def replace_descriptions(value: Any) -> None:
    """Replace every ``description`` text inside a tool declaration in place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "description" and isinstance(inner, str):
                value[key] = filler(inner)
            else:
                replace_descriptions(inner)
    elif isinstance(value, list):
        for inner in value:
            replace_descriptions(inner)


def scrub(text: str, work: Path) -> list[dict[str, Any]]:
    """The lines of a recorded session without traces of the machine or of the vendor's texts."""
    text = text.replace(str(work), "").replace(str(work).strip("/").replace("/", "-") + "-", "")
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        for holder, key in ((line, "message"), (line, "systemMessage")):
            if isinstance(holder.get(key), dict) and holder[key].get("role") == "system":
                scrub_system(holder[key])
        if line["type"] == "branch_summary" and not line["summary"].startswith(SUMMARY_START):
            opening, blank, rest = line["summary"].partition("\n\n")
            line["summary"] = filler(opening) + blank + rest
    return lines


def without_system(lines: list[dict[str, Any]], keep: Callable[[int], bool]) -> list[dict[str, Any]]:
    """The chosen entries chained anew, without what older versions did not write."""
    kept: list[dict[str, Any]] = [lines[0]]
    renamed: dict[str, str | None] = {}
    for index, line in enumerate(lines[1:]):
        line = json.loads(json.dumps(line))
        system = line["type"] == "message" and line["message"]["role"] == "system"
        parent = renamed.get(line["parentId"], line["parentId"])
        if system or not keep(index):
            renamed[line["id"]] = parent
            continue
        line["parentId"] = parent
        for key in ("systemMessage", "usage"):
            line.pop(key, None)
        kept.append(line)
    return kept


def version_one(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A linear session as version 1 wrote it: no ids, the kept entry of a compaction by line number."""
    lines = without_system(lines, lambda index: index <= 33)
    place = {line["id"]: number for number, line in enumerate(lines)}
    header = {**lines[0], "provider": "local", "modelId": "scripted-1", "thinkingLevel": "medium"}
    del header["version"]
    out = [header]
    for line in lines[1:]:
        if "firstKeptEntryId" in line:
            line["firstKeptEntryIndex"] = place[line.pop("firstKeptEntryId")]
        if line["type"] == "message" and "usage" in line["message"]:
            line["message"]["usage"].pop("totalTokens", None)
        out.append({key: value for key, value in line.items() if key not in ("id", "parentId")})
    return out


def version_two(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A branched session as version 2 wrote it, with two stored messages of an extension's hook."""
    lines = without_system(lines, lambda index: True)
    out = [{**lines[0], "version": 2}]
    for line in lines[1:]:
        if line["type"] == "custom_message":
            message = {
                key: line[key] for key in ("customType", "content", "display", "details") if key in line
            }
            stamp = 1795000000000 + len(out)
            line = {
                "type": "message",
                "id": line["id"],
                "parentId": line["parentId"],
                "timestamp": line["timestamp"],
            }
            line["message"] = {"role": "hookMessage", **message, "timestamp": stamp}
        if line["type"] in ("context_edit", "usage"):
            line = {
                "type": "custom",
                "customType": "orchard.note",
                "data": {"was": line["type"]},
                **{k: line[k] for k in ("id", "parentId", "timestamp")},
            }
        out.append(line)
    return out


def main() -> None:
    work, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    made = {
        path.stem: scrub(path.read_text("utf-8"), work) for path in sorted((work / "raw").glob("*.jsonl"))
    }
    made["version-1"] = version_one(made["compacted-twice"])
    made["version-2"] = version_two(made["edits-and-extras"])
    made["version-1"][0]["id"] = "0e6f2a52-5a1d-4c0e-9d4e-6f0f6d1c7a11"
    made["version-2"][0]["id"] = "0e6f2a52-5a1d-4c0e-9d4e-6f0f6d1c7a22"
    for name, lines in made.items():
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        (target / f"{name}.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
