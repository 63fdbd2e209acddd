"""The bundled session is its own source: an invented day, in the lines that pi 1.5.2 would write. Whoever edits it keeps this."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "core" / "leafward" / "data" / "demo.jsonl"

Entry = dict[str, Any]

# What stands in each kind of line, in the order in which pi 1.5.2 writes it.
KEYS = {
    "message": ["type", "id", "parentId", "timestamp", "message"],
    "model_change": ["type", "id", "parentId", "timestamp", "provider", "modelId"],
    "thinking_level_change": ["type", "id", "parentId", "timestamp", "thinkingLevel"],
    "label": ["type", "id", "parentId", "timestamp", "targetId", "label"],
    "session_info": ["type", "id", "parentId", "timestamp", "name"],
    "usage": ["type", "id", "parentId", "timestamp", "kind", "provider", "model", "usage"],
    "context_edit": ["type", "id", "parentId", "timestamp", "targetId", "replacement"],
    "custom": ["type", "customType", "data", "id", "parentId", "timestamp"],
    "custom_message": [
        *("type", "customType", "content", "display", "details"),
        *("id", "parentId", "timestamp"),
    ],
    "branch_summary": [
        *("type", "id", "parentId", "timestamp"),
        *("fromId", "summary", "details", "usage", "fromHook"),
    ],
    "compaction": [
        *("type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId"),
        *("tokensBefore", "details", "usage", "fromHook", "systemMessage"),
    ],
}


@cache
def lines() -> tuple[Entry, ...]:
    return tuple(json.loads(line) for line in SHIPPED.read_text(encoding="utf-8").splitlines())


def entries() -> tuple[Entry, ...]:
    return lines()[1:]


@cache
def by_id() -> dict[str, Entry]:
    return {entry["id"]: entry for entry in entries()}


def path(leaf: str) -> list[Entry]:
    found = []
    at: str | None = leaf
    while at is not None:
        found.append(by_id()[at])
        at = found[-1]["parentId"]
    return found[::-1]


def leaves() -> list[str]:
    parents = {entry["parentId"] for entry in entries()}
    return [entry["id"] for entry in entries() if entry["id"] not in parents]


def role(entry: Entry) -> str | None:
    return entry["message"]["role"] if entry["type"] == "message" else None


def calls(entry: Entry) -> list[Entry]:
    if role(entry) != "assistant":
        return []
    return [block for block in entry["message"]["content"] if block["type"] == "toolCall"]


def result_text(entry: Entry) -> str:
    return "".join(block["text"] for block in entry["message"]["content"])


def test_it_is_a_clean_file_of_modest_size() -> None:
    raw = SHIPPED.read_bytes()
    assert len(raw) < 600_000
    assert raw.endswith(b"}\n")
    assert b"\r" not in raw
    assert not re.search(rb"[\x00-\x09\x0b-\x1f]", raw)
    assert set(re.findall(r"/home/(\w+)", raw.decode())) == {"ada"}


def test_header() -> None:
    header = lines()[0]
    assert list(header) == ["type", "version", "id", "timestamp", "cwd"]
    assert (header["type"], header["version"], header["cwd"]) == ("session", 3, "/home/ada/work/hopper")
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", header["id"])


def test_keys_stand_in_the_order_of_pi() -> None:
    for entry in entries():
        assert list(entry) == KEYS[entry["type"]]
        if role(entry) == "assistant":
            keys = list(entry["message"])
            assert keys[:8] == [
                "role",
                "content",
                "api",
                "provider",
                "model",
                "usage",
                "stopReason",
                "timestamp",
            ]
        if role(entry) == "toolResult":
            assert list(entry["message"])[:4] == ["role", "toolCallId", "toolName", "content"]


def test_the_tree_is_sound() -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries()):
        assert re.fullmatch(r"[0-9a-f]{8}", entry["id"])
        assert entry["id"] not in seen
        assert entry["parentId"] in seen if number else entry["parentId"] is None
        seen.add(entry["id"])


def test_the_day_runs_forward() -> None:
    times = [entry["timestamp"] for entry in lines()]
    assert times == sorted(times)
    assert times[0].startswith("2026-11-17T08:")
    assert times[-1].startswith("2026-11-17T15:")


def test_there_is_something_to_explore() -> None:
    turns = [entry for entry in entries() if role(entry) == "user"]
    children = Counter(entry["parentId"] for entry in entries())
    labels = [entry["label"] for entry in entries() if entry["type"] == "label"]
    assert 250 <= len(entries()) <= 400
    assert 40 <= len(turns) <= 60
    assert 6 <= len(leaves()) - 1 <= 8
    assert max(children.values()) >= 3
    assert labels == ["race reproduced", "race fixed", "tests green", "checkpoint", "ready for review"]
    assert [entry["name"] for entry in entries() if entry["type"] == "session_info"] == [
        "Stop jobs running twice"
    ]


def test_one_branch_leaves_from_another_and_one_from_the_middle_of_a_turn() -> None:
    on_path = {entry["id"] for entry in path(entries()[-1]["id"])}
    children = Counter(entry["parentId"] for entry in entries())
    points = [by_id()[entry] for entry, count in children.items() if count > 1]
    assert [point["id"] in on_path for point in points].count(False) == 1
    assert [role(point) for point in points].count("toolResult") == 1


def test_every_kind_of_line_is_there() -> None:
    assert {entry["type"] for entry in entries()} == set(KEYS)
    roles = {role(entry) for entry in entries()} - {None}
    assert roles == {"system", "user", "assistant", "toolResult", "bashExecution"}
    stops = Counter(e["message"]["stopReason"] for e in entries() if role(e) == "assistant")
    assert set(stops) == {"stop", "toolUse", "aborted", "error"}
    assert {call["name"] for entry in entries() for call in calls(entry)} == {
        "read",
        "bash",
        "edit",
        "write",
        "grep",
    }
    assert any(len(calls(entry)) >= 3 for entry in entries())
    failed = Counter(
        e["message"]["toolName"] for e in entries() if role(e) == "toolResult" and e["message"]["isError"]
    )
    assert failed["bash"] >= 8
    assert failed["edit"] == 1
    blocks = [block for e in entries() if role(e) == "user" for block in e["message"]["content"]]
    assert any(block["type"] == "image" for block in blocks)
    assert any("田中さん 🦊" in block.get("text", "") for block in blocks)
    thoughts = [
        b
        for e in entries()
        if role(e) == "assistant"
        for b in e["message"]["content"]
        if b["type"] == "thinking"
    ]
    assert len(thoughts) >= 10
    assert len({e["modelId"] for e in entries() if e["type"] == "model_change"}) == 2
    assert len({e["thinkingLevel"] for e in entries() if e["type"] == "thinking_level_change"}) == 3
    assert sum(e["type"] == "context_edit" and e["replacement"] is not None for e in entries()) == 1


def test_the_session_ends_on_an_answer() -> None:
    last = entries()[-1]
    assert role(last) == "assistant"
    assert last["message"]["stopReason"] == "stop"
    assert len(path(last["id"])) > len(entries()) * 0.7


def test_every_call_has_its_result_right_after_it() -> None:
    for leaf in leaves():
        waiting: list[str] = []
        for entry in path(leaf):
            if role(entry) == "toolResult":
                assert entry["message"]["toolCallId"] == waiting.pop(0)
            else:
                assert waiting == []
                waiting = [call["id"] for call in calls(entry)]
        assert waiting == []


def test_files_can_be_replayed_along_every_path() -> None:
    """Edits match the file as it was last read or written, and reads show what edits and writes left."""
    edits = 0
    for leaf in leaves():
        files: dict[str, str] = {}
        pending: dict[str, Entry] = {}
        for entry in path(leaf):
            pending |= {call["id"]: call for call in calls(entry)}
            if role(entry) != "toolResult":
                continue
            call = pending.pop(entry["message"]["toolCallId"])
            name, arguments, text = call["name"], call["arguments"], result_text(entry)
            if name == "write":
                files[arguments["path"]] = arguments["content"]
            elif name == "read":
                shown = re.sub(r"\n\n\[\d+ lines follow, from offset \d+\]$", "", text)
                if arguments["path"] in files:
                    assert shown in files[arguments["path"]]
                elif set(arguments) == {"path"}:
                    files[arguments["path"]] = text
            elif name == "edit":
                before = files[arguments["path"]]
                if entry["message"]["isError"]:
                    assert any(before.count(piece["oldText"]) == 0 for piece in arguments["edits"])
                    continue
                spans = []
                for piece in arguments["edits"]:
                    assert before.count(piece["oldText"]) == 1, (entry["id"], piece["oldText"])
                    start = before.index(piece["oldText"])
                    spans.append((start, start + len(piece["oldText"]), piece["newText"]))
                spans.sort()
                assert all(left[1] <= right[0] for left, right in pairwise(spans))
                after = before
                for start, end, new in reversed(spans):
                    after = after[:start] + new + after[end:]
                files[arguments["path"]] = after
                check_diff(entry["message"]["details"], before.splitlines(), after.splitlines())
                edits += 1
    assert edits > 100


def check_diff(details: Entry, before: list[str], after: list[str]) -> None:
    """The numbered lines of a diff stand in the files under these numbers; every changed line is among them."""
    removed, added = set(), set()
    for line in details["diff"].split("\n"):
        match = re.fullmatch(r"([-+ ]) *(\d+) (.*)", line)
        if match is None:
            assert line.strip() == "..."
            continue
        sign, number, text = match[1], int(match[2]), match[3]
        assert (after if sign == "+" else before)[number - 1] == text
        if sign == "+":
            added.add(number)
        elif sign == "-":
            removed.add(number)
    rest = [line for number, line in enumerate(before, 1) if number not in removed]
    assert rest == [line for number, line in enumerate(after, 1) if number not in added]
    assert details["firstChangedLine"] <= len(after) + 1
    assert details["patch"].startswith("--- ")


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_summaries_have_their_sections_and_file_lists(kind: str) -> None:
    found = [entry for entry in entries() if entry["type"] == kind]
    assert len(found) == 2
    for entry in found:
        headings = re.findall(r"^##+ (.+)$", entry["summary"], re.MULTILINE)
        wanted = [
            "Goal",
            "Constraints & Preferences",
            "Progress",
            "Done",
            "In Progress",
            "Blocked",
            "Key Decisions",
        ]
        assert headings[:8] == [*wanted, "Next Steps"]
        assert ("Critical Context" in headings) == (kind == "compaction")
        for tag, key in (("read-files", "readFiles"), ("modified-files", "modifiedFiles")):
            listed = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", entry["summary"], re.DOTALL)
            assert (listed[1].split("\n") if listed else []) == entry["details"][key]
            assert entry["details"][key] == sorted(entry["details"][key])


def test_compactions_keep_a_part_of_their_path() -> None:
    found = [entry for entry in entries() if entry["type"] == "compaction"]
    for entry in found:
        before = path(entry["id"])[:-1]
        kept = next(e for e in before if e["id"] == entry["firstKeptEntryId"])
        assert role(kept) in {"user", "assistant"}
        assert 30_000 < entry["tokensBefore"] < 60_000
    splits = [role(by_id()[entry["firstKeptEntryId"]]) == "assistant" for entry in found]
    assert splits == [True, False]
    assert ["Turn Context (split turn)" in entry["summary"] for entry in found] == splits


def test_branch_summaries_name_the_leaf_that_was_left() -> None:
    for entry in (e for e in entries() if e["type"] == "branch_summary"):
        assert entry["fromId"] in leaves()
        assert entry["parentId"] in {e["id"] for e in path(entry["fromId"])}


def test_context_grows_and_drops_at_compactions() -> None:
    size = 0
    for entry in path(entries()[-1]["id"]):
        if entry["type"] == "compaction":
            assert size <= entry["tokensBefore"] < size + 1_000
            size = 0
        if entry["type"] == "context_edit" and entry["replacement"] is not None:
            size = 0
        if role(entry) != "assistant" or entry["message"]["stopReason"] == "error":
            continue
        usage = entry["message"]["usage"]
        parts = [usage[key] for key in ("input", "output", "cacheRead", "cacheWrite")]
        assert min(parts) >= 0
        assert usage["totalTokens"] == sum(parts) > size
        size = usage["totalTokens"]
        cost = usage["cost"]
        assert cost["total"] == pytest.approx(
            sum(cost[k] for k in ("input", "output", "cacheRead", "cacheWrite"))
        )


def test_labels_and_edits_name_entries_of_their_own_path() -> None:
    for entry in entries():
        if entry["type"] in {"label", "context_edit"}:
            assert entry["targetId"] in {e["id"] for e in path(entry["id"])}
