"""Writes a session the way pi 1.5.2 does: same key order, same token arithmetic, same endings of shell results.

What tools say besides, and what opens a branch summary, is in words of the demo's own.

A `Recorder` keeps the tree, a clock and the project's files. Files belong to the *path*: going back to an entry
brings its files back, so that every edit along every path can be replayed. Scenes call `user`, `ai`, `say` and
friends; what a read, grep, edit or test run returns is computed from the files at that point.
"""

from __future__ import annotations

import difflib
import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Entry = dict[str, Any]
Output = str | Callable[["Recorder"], str]

# What a request carries besides the messages, in tokens: wrappers, tool preambles, the provider's own additions.
OVERHEAD = 4_120
IMAGE_CHARS = 4_800
# How many seconds of the day pass for each second that a scene gives a person.
PACE = 6.2
PRICES = {  # dollars per million tokens: input, output, cache read, cache write
    "claude-sonnet-4-5": (3.0, 15.0, 0.30, 3.75),
    "claude-opus-4-5": (5.0, 25.0, 0.50, 6.25),
}


def js(value: Any) -> str:
    """JSON exactly as JavaScript's JSON.stringify prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value == int(value):
            return str(int(value))
        return f"{value:.9f}".rstrip("0")
    if isinstance(value, list):
        return "[" + ",".join(map(js, value)) + "]"
    return "{" + ",".join(f"{js(key)}:{js(item)}" for key, item in value.items()) + "}"


def utf16(text: str) -> int:
    """Length in UTF-16 units, which is what pi divides by four."""
    return len(text.encode("utf-16-le")) // 2


def content_chars(content: Any) -> int:
    if isinstance(content, str):
        return utf16(content)
    return sum(IMAGE_CHARS if block["type"] == "image" else utf16(block.get("text", "")) for block in content)


def estimate(message: Entry) -> int:
    """pi's estimate of a message in tokens (1.5.2: UTF-16 units / 4, rounded up)."""
    role = message["role"]
    if role == "system":
        chars = content_chars(message["content"])
        chars += sum(utf16(text) for text in message.get("sections", {}).values() if text)
        if message.get("toolsAdded"):
            chars += utf16(js(message["toolsAdded"]))
    elif role == "assistant":
        chars = 0
        for block in message["content"]:
            if block["type"] == "text":
                chars += utf16(block["text"])
            elif block["type"] == "thinking":
                chars += utf16(block["thinking"])
            else:
                chars += utf16(block["name"]) + utf16(js(block["arguments"]))
    elif role == "bashExecution":
        chars = utf16(message["command"]) + utf16(message["output"])
    elif role in {"branchSummary", "compactionSummary"}:
        chars = utf16(message["summary"])
    else:
        chars = content_chars(message["content"])
    return math.ceil(chars / 4)


def contribution(entry: Entry) -> list[Entry]:
    """The messages that an entry adds to the context, before compaction and edits are applied."""
    kind = entry["type"]
    if kind == "message":
        return [entry["message"]]
    if kind == "custom_message":
        return [{"role": "custom", "content": entry["content"]}]
    if kind == "branch_summary":
        return [{"role": "branchSummary", "summary": entry["summary"]}]
    if kind == "compaction":
        summary = {"role": "compactionSummary", "summary": entry["summary"]}
        return [entry["systemMessage"], summary] if "systemMessage" in entry else [summary]
    return []


def is_turn_start(entry: Entry) -> bool:
    role = entry.get("message", {}).get("role")
    return entry["type"] in {"custom_message", "branch_summary"} or role in {"user", "bashExecution"}


# -- tool calls --------------------------------------------------------------------------------------------------


@dataclass
class Call:
    """One tool call: its arguments, and how to make its result out of the recorder."""

    name: str
    arguments: dict[str, Any]
    run: Callable[[Recorder], tuple[str, dict[str, Any] | None, bool]]
    seconds: float


def read(path: str, offset: int | None = None, limit: int | None = None) -> Call:
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


def write(path: str, content: str) -> Call:
    def run(rec: Recorder) -> tuple[str, dict[str, Any] | None, bool]:
        rec.files = {**rec.files, path: content}
        return f"Wrote {path}.", None, False

    return Call("write", {"path": path, "content": content}, run, 0.009)


def edit(path: str, *pairs: tuple[str, str]) -> Call:
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


def grep(pattern: str, path: str | None = None, glob: str | None = None) -> Call:
    arguments = {"pattern": pattern}
    if path is not None:
        arguments["path"] = path
    if glob is not None:
        arguments["glob"] = glob

    def run(rec: Recorder) -> tuple[str, dict[str, Any] | None, bool]:
        hits = []
        for name, text in sorted(rec.files.items()):
            if path is not None and name != path and not name.startswith(f"{path}/"):
                continue
            if glob is not None and not name.endswith(glob.removeprefix("*")):
                continue
            shown = name.rsplit("/", 1)[-1] if name == path else name.removeprefix(f"{path}/" if path else "")
            hits += [
                f"{shown}:{n}: {line}"
                for n, line in enumerate(text.split("\n"), 1)
                if re.search(pattern, line)
            ]
        return "\n".join(hits) or "No line matches.", None, False

    return Call("grep", arguments, run, 0.021)


def bash(
    command: str, output: Output = "", *, code: int = 0, seconds: float = 0.2, timeout: int | None = None
) -> Call:
    """A command; with `timeout` and code 124 the tool itself stops it, as pi does."""
    arguments: dict[str, Any] = {"command": command}
    if timeout is not None:
        arguments["timeout"] = timeout

    def run(rec: Recorder) -> tuple[str, dict[str, Any] | None, bool]:
        text = rec.located(output if isinstance(output, str) else output(rec))
        if code == 124 and timeout is not None:
            shown = f"{text}\n\n" if text else ""
            return f"{shown}Command timed out after {timeout} seconds", {}, True
        if code:
            return f"{text or '(no output)'}\n\nCommand exited with code {code}", None, True
        return text or "(no output)", None, False

    return Call("bash", arguments, run, seconds)


def edit_details(path: str, before: str, after: str, context: int = 4) -> dict[str, Any]:
    """The numbered diff and the patch that pi keeps with the result of an edit."""
    old, new = before.splitlines(), after.splitlines()
    width = len(str(max(len(old), len(new)) + 1))
    skip = f" {'':>{width}} ..."
    shown: list[str] = []
    patch = [f"--- {path}", f"+++ {path}"]
    first = None
    groups = list(difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context))
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


# -- outputs computed from the files -----------------------------------------------------------------------------


def git_diff(
    *paths: str, stat: bool = False, base: dict[str, str] | None = None
) -> Callable[[Recorder], str]:
    """`git diff` against the last commit on this path, or against `base` with new files."""

    def run(rec: Recorder) -> str:
        lines: list[str] = []
        added = removed = changed = 0
        before = rec.commit if base is None else base
        for name in sorted(set(rec.files) | set(before)):
            old, new = before.get(name), rec.files.get(name)
            if old == new or (old is None and base is None) or (paths and name not in paths):
                continue
            body = list(
                difflib.unified_diff((old or "").splitlines(), (new or "").splitlines(), n=3, lineterm="")
            )[2:]
            plus = sum(line.startswith("+") for line in body)
            minus = sum(line.startswith("-") for line in body)
            added, removed, changed = added + plus, removed + minus, changed + 1
            if stat:
                lines.append(f" {name:<28} | {plus + minus:>3} {'+' * min(plus, 40)}{'-' * min(minus, 20)}")
            else:
                head = ["new file mode 100644", "--- /dev/null"] if old is None else [f"--- a/{name}"]
                lines += [f"diff --git a/{name} b/{name}", *head, f"+++ b/{name}", *body]
        if stat:
            lines.append(f" {changed} files changed, {added} insertions(+), {removed} deletions(-)")
        return "\n".join(lines) + "\n"

    return run


def pytest_run(
    *targets: str,
    seconds: float,
    failures: dict[str, tuple[str, str]] | None = None,
    quiet: bool = False,
    stop: bool = False,
    verbose: bool = False,
) -> Callable[[Recorder], str]:
    """What pytest prints for the tests that the files hold now.

    `failures` maps a test's name to the body of its report and the reason on its summary line. With `stop` the run
    ends at the first failure.
    """
    failures = failures or {}

    def run(rec: Recorder) -> str:
        rec.test_runs.append((dict(rec.files), targets, set(failures), stop))
        modules = []
        for name, text in sorted(rec.files.items()):
            if name.startswith("tests/test_") and (
                not targets or any(t.split("::")[0] in name for t in targets)
            ):
                tests = re.findall(r"^def (test_\w+)", text, re.MULTILINE)
                wanted = {t.split("::")[1] for t in targets if "::" in t}
                modules.append((name, [t for t in tests if not wanted or t in wanted]))
        total = sum(len(tests) for _, tests in modules)
        lines = []
        if not quiet:
            lines += [
                "============================= test session starts ==============================",
                "platform linux -- Python 3.12.7, pytest-8.3.3, pluggy-1.5.0",
                f"rootdir: {rec.cwd}",
                "configfile: pyproject.toml",
                f"collected {total} item{'s' if total != 1 else ''}",
                "",
            ]
        done, bar, reports, failed = 0, "", [], []
        for name, tests in modules:
            marks = ""
            for test in tests:
                marks += "F" if test in failures else "."
                done += 1
                if test in failures:
                    body, reason = failures[test]
                    reports += [f" {test} ".center(80, "_"), "", body.strip("\n"), ""]
                    failed.append(f"FAILED {name}::{test} - {reason}")
                    if stop:
                        break
            bar += marks
            if verbose:
                start = done - len(tests)
                for number, test in enumerate(tests, start + 1):
                    word = "FAILED" if test in failures else "PASSED"
                    lines.append(f"{name}::{test} {word}".ljust(73) + f" [{100 * number // total:>3}%]")
            elif not quiet and tests:
                lines.append(f"{name} {marks}".ljust(73) + f"[{100 * done // total:>3}%]")
            if stop and failed:
                break
        if quiet:
            lines.append(bar.ljust(73) + f"[{100 * done // total:>3}%]")
        if failed:
            lines += ["", " FAILURES ".center(80, "="), *reports]
            lines += [" short test summary info ".center(80, "="), *failed]
            if stop:
                lines.append(f" stopping after {len(failed)} failures ".center(80, "!"))
        counts = ", ".join(
            part
            for part in (f"{len(failed)} failed" if failed else "", f"{done - len(failed)} passed")
            if part and not part.startswith("0 ")
        )
        tail = f"{counts} in {seconds:.2f}s"
        lines.append(tail if quiet else "\n" + f" {tail} ".center(80, "="))
        return "\n".join(lines) + "\n"

    return run


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
        self.commit = dict(files)
        self.at: dict[str, tuple[dict[str, str], dict[str, str], str, str]] = {}
        self.provider, self.model, self.thinking = "anthropic", "claude-sonnet-4-5", "off"
        self.requests: dict[str, tuple[int, int, str]] = {}  # entry -> tokens cached by it, time, model
        self.test_runs: list[tuple[dict[str, str], tuple[str, ...], set[str], bool]] = []
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

    def iso(self, ms: int | None = None) -> str:
        moment = datetime.fromtimestamp((self.now if ms is None else ms) / 1000, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{(self.now if ms is None else ms) % 1000:03d}Z"

    def seconds_of_day(self) -> float:
        """The time on the engineer's wall, an hour ahead of UTC."""
        return (self.now / 1000 + 3600) % 86_400

    def wait(self, seconds: float) -> None:
        self.now += max(1, round(seconds * 1000 * self.random.uniform(0.93, 1.07)))

    def hexa(self, digits: int) -> str:
        return "".join(self.random.choice("0123456789abcdef") for _ in range(digits))

    def base62(self, digits: int) -> str:
        letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        return "".join(self.random.choice(letters) for _ in range(digits))

    def located(self, text: str) -> str:
        """Put the number of the line that contains `code` in the place of each `@{path|code}`."""

        def number(match: re.Match[str]) -> str:
            lines = self.files[match[1]].split("\n")
            return str(next(n for n, line in enumerate(lines, 1) if match[2] in line))

        return re.sub(r"@\{([^|}]+)\|([^}]+)\}", number, text)

    # appending

    def append(self, kind: str, /, *, payload_first: bool = False, **fields: Any) -> str:
        entry_id = self.hexa(8)
        while entry_id in self.by_id:
            entry_id = self.hexa(8)
        place = {"id": entry_id, "parentId": self.leaf, "timestamp": self.iso()}
        entry = {"type": kind, **fields, **place} if payload_first else {"type": kind, **place, **fields}
        self.entries.append(entry)
        self.by_id[entry_id] = entry
        self.leaf = entry_id
        self.remember()
        return entry_id

    def remember(self) -> None:
        assert self.leaf is not None
        self.at[self.leaf] = (self.files, self.commit, self.model, self.thinking)

    def model_change(self, model: str) -> str:
        self.model = model
        self.wait(4)
        return self.append("model_change", provider=self.provider, modelId=model)

    def thinking_change(self, level: str) -> str:
        self.thinking = level
        self.wait(1)
        return self.append("thinking_level_change", thinkingLevel=level)

    def system(self, sections: dict[str, str], tools: list[Entry]) -> str:
        self.wait(0.3)
        message = {
            "role": "system",
            "content": "",
            "sections": sections,
            "timestamp": self.now - 1,
            "toolsAdded": tools,
        }
        return self.append("message", message=message)

    def user(self, text: str, *, after: float = 70, picture: str | None = None) -> str:
        """A prompt, sent after reading, thinking and typing: `after` says how long that takes, by its own measure."""
        self.wait(after * PACE)
        content: list[Entry] = [{"type": "text", "text": text}]
        if picture is not None:
            content.append({"type": "image", "data": picture, "mimeType": "image/png"})
        message = {"role": "user", "content": content, "timestamp": self.now - 2}
        return self.append("message", message=message)

    def ai(self, *parts: str | Call, think: str | None = None) -> str:
        """One reply with its tool results. Returns the id of the reply."""
        calls = [part for part in parts if isinstance(part, Call)]
        blocks: list[Entry] = []
        if think is not None:
            blocks.append({"type": "thinking", "thinking": think, "thinkingSignature": self.signature()})
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

    def signature(self) -> str:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        return "Ep" + "".join(self.random.choice(letters) for _ in range(105)) + "="

    def reply(self, blocks: list[Entry], stop: str, error: str | None = None) -> str:
        """An assistant message with its usage, as the provider would have counted it."""
        message: Entry = {"role": "assistant", "content": blocks}
        out = estimate(message) + 3
        usage = self.usage_of(None if stop in {"error", "aborted"} and not blocks else out)
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
        if error is None:
            message["responseId"] = f"msg_01{self.base62(22)}"
            message["rawStopReason"] = "tool_use" if stop == "toolUse" else "end_turn"
        else:
            message["errorMessage"] = error
        message["durationMs"] = self.now - began
        message["thinkingLevel"] = self.thinking
        entry = self.append("message", message=message)
        if error is None:
            self.requests[entry] = (usage["totalTokens"], self.now, self.model)
        return entry

    def usage_of(self, out: int | None) -> Entry:
        if out is None:
            return usage_record(self.model, 0, 0, 0, 0)
        prompt = self.prompt_tokens()
        own = min(prompt, self.random.choice((3, 4, 6, 8, 11)))
        cached = min(self.cached_tokens(), prompt - own)
        return usage_record(self.model, own, out, cached, prompt - own - cached)

    def prompt_tokens(self) -> int:
        return OVERHEAD + sum(estimate(message) for message in self.context())

    def cached_tokens(self) -> int:
        """The prefix that the provider still has: the last request above here, unless it is old or edited away."""
        for entry in reversed(self.path()):
            if entry["type"] == "compaction":
                return 0
            if (
                entry["type"] == "context_edit"
                and self.by_id[entry["targetId"]]["message"]["role"] != "assistant"
            ):
                return 0
            if entry["id"] in self.requests:
                tokens, when, model = self.requests[entry["id"]]
                return tokens - OVERHEAD // 3 if model == self.model and self.now - when < 3_600_000 else 0
        return 0

    def error(self, message: str) -> str:
        """A request that failed, and the edit by which pi takes the empty reply out of the context before it retries."""
        failed = self.reply([], "error", message)
        self.wait(0.004)
        self.append("context_edit", targetId=failed, replacement=None)
        self.wait(2)
        return failed

    def abort(self, text: str, think: str | None = None) -> str:
        """A reply that the user stopped."""
        blocks: list[Entry] = []
        if think is not None:
            blocks.append({"type": "thinking", "thinking": think, "thinkingSignature": self.signature()})
        blocks.append({"type": "text", "text": text})
        return self.reply(blocks, "aborted", "Stopped by the user.")

    def shell(
        self, command: str, output: Output, *, code: int = 0, after: float = 25, commits: bool = False
    ) -> str:
        """`!command`, typed by the user."""
        self.wait(after * PACE)
        text = output if isinstance(output, str) else output(self)
        if commits:
            self.commit = dict(self.files)
        message = {
            "role": "bashExecution",
            "command": command,
            "output": text,
            "exitCode": code,
            "cancelled": False,
            "truncated": False,
            "timestamp": self.now,
        }
        return self.append("message", message=message)

    def label(self, target: str, text: str) -> str:
        self.wait(9)
        return self.append("label", targetId=target, label=text)

    def name(self, text: str) -> str:
        self.wait(6)
        return self.append("session_info", name=text)

    def custom(self, kind: str, data: Any) -> str:
        self.wait(0.05)
        return self.append("custom", payload_first=True, customType=kind, data=data)

    def custom_message(self, kind: str, content: str, details: Any, *, after: float = 40) -> str:
        self.wait(after)
        return self.append(
            "custom_message",
            payload_first=True,
            customType=kind,
            content=content,
            display=True,
            details=details,
        )

    def context_edit(self, target: str, text: str) -> str:
        self.wait(5)
        return self.append(
            "context_edit", targetId=target, replacement={"content": [{"type": "text", "text": text}]}
        )

    def cache_warm(self) -> str:
        """The request that keeps the provider's cache alive over a break."""
        tokens = max((self.requests[e["id"]][0] for e in self.path() if e["id"] in self.requests), default=0)
        usage = usage_record(self.model, 3, 1, tokens - 3, 0)
        entry = self.append("usage", kind="cache_warm", provider=self.provider, model=self.model, usage=usage)
        self.requests[entry] = (tokens, self.now, self.model)
        return entry

    # moving

    def go(self, entry_id: str) -> None:
        """Navigate: the next entry becomes a child of `entry_id`, with the files as they were there."""
        self.leaf = entry_id
        self.files, self.commit, self.model, self.thinking = self.at[entry_id]

    def go_with_summary(self, entry_id: str, summary: str) -> str:
        """Navigate and leave a summary of the branch that is left behind."""
        left = self.path()
        here = {entry["id"] for entry in self.path(entry_id)}
        gone = [entry for entry in left if entry["id"] not in here]
        from_id = self.leaf
        reads, changes = file_lists(gone)
        opening = "From here the user first went another way, then came back. This is what happened on that way:\n\n"
        summary = opening + summary.strip() + file_tags(reads, changes)
        spent = sum(estimate(m) for e in gone for m in contribution(e) if m["role"] != "toolResult")
        usage = usage_record(
            self.model, spent + 610, estimate({"role": "user", "content": summary}) - 40, 0, 0
        )
        self.go(entry_id)
        self.wait(14)
        return self.append(
            "branch_summary",
            fromId=from_id,
            summary=summary,
            details={"readFiles": reads, "modifiedFiles": changes},
            usage=usage,
            fromHook=False,
        )

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

    def path(self, leaf: str | None = None) -> list[Entry]:
        entries = []
        at = leaf or self.leaf
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
        entries = self.selected()
        edits = {e["targetId"]: e["replacement"] for e in entries if e["type"] == "context_edit"}
        messages = []
        for entry in entries:
            for message in contribution(entry):
                if entry["id"] not in edits:
                    messages.append(message)
                elif edits[entry["id"]] is not None:
                    messages.append({**message, **edits[entry["id"]]})
        return messages

    def tokens_at(self) -> int:
        """pi's count of the context here: the last trusted usage and an estimate of what came after it."""
        path = self.path()
        stale = max(
            (i for i, e in enumerate(path) if e["type"] in {"compaction", "context_edit"}), default=-1
        )
        trailing = 0
        for entry in reversed(path[stale + 1 :]):
            message = entry.get("message", {})
            if message.get("role") == "assistant" and message["stopReason"] not in {"error", "aborted"}:
                return int(message["usage"]["totalTokens"]) + trailing
            trailing += sum(estimate(m) for m in contribution(entry))
        return sum(estimate(message) for message in self.context())

    def lines(self) -> str:
        return "".join(js(entry) + "\n" for entry in [self.header, *self.entries])


def can_be_first(entry: Entry) -> bool:
    if entry["type"] == "message":
        return entry["message"]["role"] not in {"toolResult", "system"}
    return entry["type"] in {"custom_message", "branch_summary"}


def usage_record(model: str, own: int, out: int, cached: int, written: int) -> Entry:
    prices = PRICES[model]
    cost = [tokens * price / 1e6 for tokens, price in zip((own, out, cached, written), prices, strict=True)]
    return {
        "input": own,
        "output": out,
        "cacheRead": cached,
        "cacheWrite": written,
        "totalTokens": own + out + cached + written,
        "cost": {
            "input": cost[0],
            "output": cost[1],
            "cacheRead": cost[2],
            "cacheWrite": cost[3],
            "total": sum(cost),
            "totalFromProvider": False,
        },
        "cacheWrite1h": 0,
    }


def file_lists(
    entries: list[Entry], previous: tuple[list[str], list[str]] = ([], [])
) -> tuple[list[str], list[str]]:
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
    text = ""
    if reads:
        text += "\n\n<read-files>\n" + "\n".join(reads) + "\n</read-files>"
    if changes:
        text += "\n\n<modified-files>\n" + "\n".join(changes) + "\n</modified-files>"
    return text
