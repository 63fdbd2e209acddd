"""Writes a session the way pi 1.5.2 does: same key order, same token arithmetic.

A `Recorder` keeps the tree, a clock and the project's files. Files belong to the *path*: going back to an entry
brings its files back. What a read or an edit returns is computed from the files at that point.
"""

from __future__ import annotations

import difflib
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from screenshots.pi_arithmetic import Entry, estimate, js, usage_record

if TYPE_CHECKING:
    from collections.abc import Callable

# What a request carries besides the messages, in tokens: wrappers, tool preambles, the provider's own additions.
OVERHEAD = 4_120
# How many seconds of the day pass for each second that a scene gives a person.
PACE = 6.2


def contribution(entry: Entry) -> list[Entry]:
    """The messages that an entry adds to the context, before compaction is applied."""
    kind = entry["type"]
    if kind == "message":
        return [entry["message"]]
    if kind == "compaction":
        return [entry["systemMessage"], {"role": "compactionSummary", "summary": entry["summary"]}]
    return []


def is_turn_start(entry: Entry) -> bool:
    """Whether a turn begins with an entry."""
    return bool(entry.get("message", {}).get("role") == "user")


# -- tool calls --------------------------------------------------------------------------------------------------


@dataclass
class Call:
    """One tool call: its arguments, and how to make its result out of the recorder."""

    name: str
    arguments: dict[str, Any]
    run: Callable[[Recorder], tuple[str, dict[str, Any] | None, bool]]
    seconds: float


def read(path: str, offset: int | None = None, limit: int | None = None) -> Call:
    """A look into a file of the project."""
    arguments: dict[str, Any] = {"path": path}
    if offset is not None:
        arguments["offset"] = offset
    if limit is not None:
        arguments["limit"] = limit

    def run(rec: Recorder) -> tuple[str, dict[str, Any] | None, bool]:
        text = rec.files.get(path)
        if text is None:
            return f"There is no file {path}.", {}, True
        lines = text.split("\n")
        start = (offset or 1) - 1
        if limit is None or start + limit >= len(lines):
            return "\n".join(lines[start:]), None, False
        shown = "\n".join(lines[start : start + limit])
        left = len(lines) - start - limit
        return f"{shown}\n\n[{left} lines follow, from offset {start + limit + 1}]", None, False

    return Call("read", arguments, run, 0.012)


def edit(path: str, *pairs: tuple[str, str]) -> Call:
    """An edit that replaces each first text of a pair by the second."""
    arguments = {"path": path, "edits": [{"oldText": old, "newText": new} for old, new in pairs]}

    def run(rec: Recorder) -> tuple[str, dict[str, Any] | None, bool]:
        before = rec.files[path]
        spans = []
        for number, (old, new) in enumerate(pairs):
            count = before.count(old)
            if count == 0:
                which = "The old text" if len(pairs) == 1 else f"The old text of edits[{number}]"
                return f"{which} does not stand in {path}. Spaces and line ends count, too.", {}, True
            if count > 1:
                raise ValueError(f"{path}: {count} places match {old!r}")
            spans.append((before.index(old), old, new))
        spans.sort()
        after, end = "", 0
        for start, old, new in spans:
            if start < end:
                raise ValueError(f"{path}: edits overlap at {old!r}")
            after += before[end:start] + new
            end = start + len(old)
        after += before[end:]
        rec.files = {**rec.files, path: after}
        pieces = "1 piece" if len(pairs) == 1 else f"{len(pairs)} pieces"
        return f"Replaced {pieces} of {path}.", edit_details(path, before, after), False

    return Call("edit", arguments, run, 0.018)


def bash(command: str, output: str) -> Call:
    """A command and what it prints."""
    return Call("bash", {"command": command}, lambda _rec: (output, None, False), 0.2)


def edit_details(path: str, before: str, after: str) -> dict[str, Any]:
    """The numbered diff and the patch that pi keeps with the result of an edit."""
    old, new = before.splitlines(), after.splitlines()
    width = len(str(max(len(old), len(new)) + 1))
    skip = f" {'':>{width}} ..."
    shown: list[str] = []
    patch = [f"--- {path}", f"+++ {path}"]
    first = None
    groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(4))
    for group in groups:
        if group[0][1] > 0 and (not shown or shown[-1] != skip):
            shown.append(skip)
        old_start, old_end, new_start, new_end = group[0][1], group[-1][2], group[0][3], group[-1][4]
        patch.append(f"@@ -{old_start + 1},{old_end - old_start} +{new_start + 1},{new_end - new_start} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                shown += [f" {i + 1:>{width}} {old[i]}" for i in range(i1, i2)]
                patch += [f" {old[i]}" for i in range(i1, i2)]
                continue
            if first is None:
                first = j1 + 1
            shown += [f"-{i + 1:>{width}} {old[i]}" for i in range(i1, i2)]
            shown += [f"+{j + 1:>{width}} {new[j]}" for j in range(j1, j2)]
            patch += [f"-{old[i]}" for i in range(i1, i2)]
            patch += [f"+{new[j]}" for j in range(j1, j2)]
        if old_end < len(old):
            shown.append(skip)
    return {"diff": "\n".join(shown), "patch": "\n".join(patch) + "\n", "firstChangedLine": first}


# -- the recorder ------------------------------------------------------------------------------------------------


class Recorder:
    """A session in the making."""

    def __init__(self, *, seed: int, start: datetime, cwd: str, files: dict[str, str]) -> None:
        self.random = random.Random(seed)
        self.cwd = cwd
        self.now = int(start.timestamp() * 1000)
        self.entries: list[Entry] = []
        self.by_id: dict[str, Entry] = {}
        self.leaf: str | None = None
        self.files = dict(files)
        self.at: dict[str, tuple[dict[str, str], str]] = {}
        self.provider, self.model = "anthropic", "claude-sonnet-4-5"
        self.requests: dict[str, tuple[int, int, str]] = {}  # entry -> tokens cached by it, time, model
        stamp = f"{self.now:012x}"
        tail = self.hexa(18)
        self.header: Entry = {
            "type": "session",
            "version": 3,
            "id": f"{stamp[:8]}-{stamp[8:]}-7{tail[:3]}-{'89ab'[int(tail[3], 16) % 4]}{tail[4:7]}-{tail[6:]}",
            "timestamp": self.iso(),
            "cwd": cwd,
        }

    # time and names

    def iso(self) -> str:
        """The present time as pi writes it."""
        moment = datetime.fromtimestamp(self.now / 1000, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now % 1000:03d}Z"

    def wait(self, seconds: float) -> None:
        """Lets about so many seconds pass."""
        self.now += max(1, round(seconds * 1000 * self.random.uniform(0.93, 1.07)))

    def hexa(self, digits: int) -> str:
        """Random hexadecimal digits."""
        return "".join(self.random.choice("0123456789abcdef") for _ in range(digits))

    def base62(self, digits: int) -> str:
        """Random digits and letters."""
        letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        return "".join(self.random.choice(letters) for _ in range(digits))

    # appending

    def append(self, kind: str, /, **fields: Any) -> str:
        """Appends an entry at the leaf; its id."""
        entry_id = self.hexa(8)
        while entry_id in self.by_id:
            entry_id = self.hexa(8)
        entry = {"type": kind, "id": entry_id, "parentId": self.leaf, "timestamp": self.iso(), **fields}
        self.entries.append(entry)
        self.by_id[entry_id] = entry
        self.leaf = entry_id
        self.at[entry_id] = (self.files, self.model)
        return entry_id

    def model_change(self, model: str) -> str:
        """Goes on with another model."""
        self.model = model
        self.wait(4)
        return self.append("model_change", provider=self.provider, modelId=model)

    def system(self, sections: dict[str, str], tools: list[Entry]) -> str:
        """The system prompt and the tools."""
        self.wait(0.3)
        message = {
            "role": "system",
            "content": "",
            "sections": sections,
            "timestamp": self.now - 1,
            "toolsAdded": tools,
        }
        return self.append("message", message=message)

    def user(self, text: str, *, after: float = 70) -> str:
        """A prompt, sent after reading, thinking and typing: `after` says how long that takes, by its own measure."""
        self.wait(after * PACE)
        content = [{"type": "text", "text": text}]
        return self.append("message", message={"role": "user", "content": content, "timestamp": self.now - 2})

    def ai(self, *parts: str | Call) -> str:
        """One reply with its tool results. Returns the id of the reply."""
        calls = [part for part in parts if isinstance(part, Call)]
        blocks: list[Entry] = []
        ids = []
        for part in parts:
            if isinstance(part, str):
                blocks.append({"type": "text", "text": part})
            else:
                ids.append(f"toolu_01{self.base62(22)}")
                blocks.append(
                    {"type": "toolCall", "id": ids[-1], "name": part.name, "arguments": part.arguments}
                )
        reply = self.reply(blocks, "toolUse" if calls else "stop")
        began = self.now
        results = []
        for call, call_id in zip(calls, ids, strict=True):
            before = self.now
            text, details, failed = call.run(self)
            self.wait(call.seconds)
            message: Entry = {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": call.name,
                "content": [{"type": "text", "text": text}],
            }
            if details is not None:
                message["details"] = details
            message |= {"isError": failed, "durationMs": self.now - before, "timestamp": self.now}
            results.append(self.append("message", message=message))
        self.now = max(self.now, began + 3)
        return results[-1] if results else reply

    say = ai

    def reply(self, blocks: list[Entry], stop: str) -> str:
        """An assistant message with its usage, as the provider would have counted it."""
        message: Entry = {"role": "assistant", "content": blocks}
        out = estimate(message) + 3
        usage = self.usage_of(out)
        began = self.now + 2
        self.now = began
        self.wait(1.1 + out / 62)
        message |= {
            "api": "anthropic-messages",
            "provider": self.provider,
            "model": self.model,
            "usage": usage,
            "stopReason": stop,
            "timestamp": began,
        }
        message["responseId"] = f"msg_01{self.base62(22)}"
        message["rawStopReason"] = "tool_use" if stop == "toolUse" else "end_turn"
        message["durationMs"] = self.now - began
        message["thinkingLevel"] = "off"
        entry = self.append("message", message=message)
        self.requests[entry] = (usage["totalTokens"], self.now, self.model)
        return entry

    def usage_of(self, out: int) -> Entry:
        """The usage of a request that is answered now."""
        prompt = self.prompt_tokens()
        own = min(prompt, self.random.choice((3, 4, 6, 8, 11)))
        cached = min(self.cached_tokens(), prompt - own)
        return usage_record(self.model, own, out, cached, prompt - own - cached)

    def prompt_tokens(self) -> int:
        """Tokens that a request sends now."""
        return OVERHEAD + sum(estimate(message) for message in self.context())

    def cached_tokens(self) -> int:
        """The prefix that the provider still has: the last request above here, unless it is old."""
        for entry in reversed(self.path()):
            if entry["type"] == "compaction":
                return 0
            if entry["id"] in self.requests:
                tokens, when, model = self.requests[entry["id"]]
                return tokens - OVERHEAD // 3 if model == self.model and self.now - when < 3_600_000 else 0
        return 0

    def name(self, text: str) -> str:
        """Names the session."""
        self.wait(6)
        return self.append("session_info", name=text)

    # moving

    def go(self, entry_id: str) -> None:
        """Navigate: the next entry becomes a child of `entry_id`, with the files as they were there."""
        self.leaf = entry_id
        self.files, self.model = self.at[entry_id]

    def compact(self, summary: str, *, prefix: str | None = None, keep: int = 20_000) -> str:
        """`/compact`: cut as pi does for `keep` recent tokens, and store the summary.

        `prefix` is the account of the beginning of a turn that the cut splits; it must be given exactly then.
        """
        path = self.path()
        before = self.tokens_at()
        kept, first = 0, None
        start = 0
        previous: tuple[list[str], list[str]] = ([], [])
        for entry in path:
            if entry["type"] == "compaction":
                previous = (entry["details"]["readFiles"], entry["details"]["modifiedFiles"])
                start = next(i for i, e in enumerate(path) if e["id"] == entry["firstKeptEntryId"])
        for index in range(len(path) - 1, start, -1):
            kept += sum(estimate(m) for m in contribution(path[index]) if path[index]["type"] != "compaction")
            if kept >= keep:
                first = index
                break
        if first is None:
            raise ValueError("nothing to compact")
        while not can_be_first(path[first]):
            first += 1
        while not contribution(path[first - 1]) and path[first - 1]["type"] != "compaction":
            first -= 1
        if is_turn_start(path[first]) != (prefix is None):
            raise ValueError(
                f"the cut at {path[first]} {'splits' if prefix is None else 'does not split'} a turn"
            )
        if prefix is not None:
            summary = f"{summary.strip()}\n\n---\n\n**Turn Context (split turn):**\n\n{prefix.strip()}"
        reads, changes = file_lists(path[start:first], previous)
        usage = usage_record(self.model, before - kept + 900, len(summary) // 4, 0, 0)
        self.wait(21)
        system = next(e["message"] for e in path if e.get("message", {}).get("role") == "system")
        return self.append(
            "compaction",
            summary=summary.strip() + file_tags(reads, changes),
            firstKeptEntryId=path[first]["id"],
            tokensBefore=before,
            details={"readFiles": reads, "modifiedFiles": changes},
            usage=usage,
            fromHook=False,
            systemMessage={
                "role": "system",
                "content": "",
                "sections": system["sections"],
                "toolsAdded": system["toolsAdded"],
                "timestamp": self.now,
            },
        )

    # reading back

    def path(self) -> list[Entry]:
        """The entries from the root to the leaf."""
        entries = []
        at = self.leaf
        while at is not None:
            entry = self.by_id[at]
            entries.append(entry)
            at = entry["parentId"]
        return entries[::-1]

    def selected(self) -> list[Entry]:
        """The entries that the model sees here: from the last compaction's kept range on."""
        path = self.path()
        last = max((i for i, e in enumerate(path) if e["type"] == "compaction"), default=None)
        if last is None:
            return path
        first = next(i for i, e in enumerate(path) if e["id"] == path[last]["firstKeptEntryId"])
        kept = [e for e in path[first:last] if e["type"] != "compaction"]
        kept = [e for e in kept if e.get("message", {}).get("role") != "system"]
        return [path[last], *kept, *path[last + 1 :]]

    def context(self) -> list[Entry]:
        """The messages that a request sends now."""
        return [message for entry in self.selected() for message in contribution(entry)]

    def tokens_at(self) -> int:
        """Pi's count of the context here: the last usage behind a compaction and an estimate of what came after it."""
        path = self.path()
        stale = max((i for i, e in enumerate(path) if e["type"] == "compaction"), default=-1)
        trailing = 0
        for entry in reversed(path[stale + 1 :]):
            message = entry.get("message", {})
            if message.get("role") == "assistant":
                return int(message["usage"]["totalTokens"]) + trailing
            trailing += sum(estimate(m) for m in contribution(entry))
        return sum(estimate(message) for message in self.context())

    def lines(self) -> str:
        """The text of the file."""
        return "".join(js(entry) + "\n" for entry in [self.header, *self.entries])


def can_be_first(entry: Entry) -> bool:
    """Whether what a compaction keeps may begin with an entry."""
    return entry["type"] == "message" and entry["message"]["role"] not in {"toolResult", "system"}


def file_lists(entries: list[Entry], previous: tuple[list[str], list[str]]) -> tuple[list[str], list[str]]:
    """Files that calls read and that they changed, `previous` among them."""
    reads, changes = set(previous[0]), set(previous[1])
    for entry in entries:
        for block in entry.get("message", {}).get("content", ()):
            if isinstance(block, dict) and block["type"] == "toolCall" and "path" in block["arguments"]:
                if block["name"] == "read":
                    reads.add(block["arguments"]["path"])
                elif block["name"] in {"edit", "write"}:
                    changes.add(block["arguments"]["path"])
    return sorted(reads - changes), sorted(changes)


def file_tags(reads: list[str], changes: list[str]) -> str:
    """The file lists behind a summary, in pi's tags."""
    text = ""
    if reads:
        text += "\n\n<read-files>\n" + "\n".join(reads) + "\n</read-files>"
    if changes:
        text += "\n\n<modified-files>\n" + "\n".join(changes) + "\n</modified-files>"
    return text
