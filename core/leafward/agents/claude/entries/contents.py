"""Messages of the Anthropic API as native bodies: blocks, calls, results, usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.claude.entries.records import CAVEAT, SYNTHETIC, message_of, tag_of
from leafward.agents.native_lines import described, document, plain_json
from leafward.base.figures import finite
from leafward.session.entries import object_at, text_at
from leafward.session.messages import NEVER_SENT, decoded_size
from leafward.session.transcript import RESHAPED, UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import Body

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_HOLDING = frozenset({"tool_result", "search_result", "web_fetch_result"})
"""Blocks that hold other blocks."""
_STOPS = {"tool_use": "toolUse", "max_tokens": "length", "model_context_window_exceeded": "length"}


def in_chain(rows: dict[str, Body]) -> list[Body]:
    """The rows of a reply, by their ids, each behind its parent: they may be written in another order (2.1.110)."""
    found: dict[str, Body] = {}
    for name, row in rows.items():
        line, above = {name: None}, str(row.get("parentUuid"))
        while above in rows and above not in found and above not in line:
            line[above] = None
            above = str(rows[above].get("parentUuid"))
        found.update((one, rows[one]) for one in reversed(line))
    return list(found.values())


def blocks(content: object) -> list[Body]:
    """Content of a message as native blocks."""
    found: list[Body] = []
    for part in content if isinstance(content, list) else (content,):
        if isinstance(part, dict):
            found += _block(part)
        elif part is not None:
            found.append({"type": "text", "text": part if isinstance(part, str) else plain_json(part)})
    return found


def _block(part: dict[str, Any]) -> list[Body]:
    kind = text_at(part, "type")
    if kind == "text" and isinstance(part.get("text"), str):
        return [{"type": "text", "text": part["text"]}]
    if kind == "thinking":
        block: Body = {"type": "thinking", "thinking": str(part.get("thinking") or "")}
        if not block["thinking"] and part.get("signature"):
            block["encrypted"] = len(str(part["signature"]))
        if not part.get("signature"):
            block["unsigned"] = True
        return [block]
    if kind == "redacted_thinking":
        return [{"type": "thinking", "thinking": "", "encrypted": len(str(part.get("data") or ""))}]
    if kind in _CALLS:
        arguments = part.get("input")
        call: Body = {
            "type": "toolCall",
            "id": str(part.get("id") or ""),
            "name": str(part.get("name") or ""),
            "arguments": arguments
            if isinstance(arguments, dict)
            else ({} if arguments is None else {"input": arguments}),
        }
        if not isinstance(arguments, dict):
            call[RESHAPED] = True
        if kind != "tool_use":
            call["hosted"] = True
        return [call]
    if kind in ("image", "document"):
        return _media(part)
    if kind in _HOLDING or kind.endswith("_tool_result"):
        return _heading(part) + blocks(part.get("content"))
    if kind == "web_search_result":
        return _heading(part)
    if kind == "tool_reference":
        return [{"type": "text", "text": f"[tool {part.get('tool_name', '')}]"}]
    for name in ("text", "stdout"):
        if isinstance(part.get(name), str):
            streams = [part[name], part.get("stderr") if name == "stdout" else None]
            return [
                {"type": "text", "text": "\n".join(one for one in streams if isinstance(one, str) and one)}
            ]
    return [{"type": "text", "text": described(part)}]


def _heading(part: dict[str, Any]) -> list[Body]:
    """Title, URL and source of a found document."""
    named = [part[name] for name in ("title", "url", "source") if isinstance(part.get(name), str)]
    return [{"type": "text", "text": "\n".join(named)}] if named else []


def _media(part: dict[str, Any]) -> list[Body]:
    source = object_at(part, "source")
    data, kind = source.get("data"), source.get("media_type")
    if part.get("type") == "image" and isinstance(data, str):
        return [{"type": "image", "data": data, "mimeType": str(kind or "image/png")}]
    if source.get("type") == "text" and isinstance(data, str):
        return [{"type": "text", "text": data}]
    if source.get("type") == "content":
        return _heading(part) + blocks(source.get("content"))
    name = part.get("title") or source.get("url") or source.get("file_id") or kind or ""
    size = f", {decoded_size(data):,} bytes" if isinstance(data, str) else ""
    text = f"[{part.get('type')} {str(name)[:200]}{size}]"
    if part.get("type") == "document":
        return [document(text, data if kind == "application/pdf" else None)]
    return [{"type": "text", "text": text}]


def reply_usage(rows: Iterable[Body]) -> Body | None:
    """The usage of a reply from its rows: that of the last row that has any."""
    found = [
        usage for row in rows if (usage := native_usage(message_of(row).get("usage"), row.get("costUSD")))
    ]
    return found[-1] if found else None


def reply_message(rows: Sequence[Body], *, counted: bool = True) -> Body:
    """One reply from its rows: their blocks in order, and the stop reason of the last row and, if `counted`, its usage."""
    content: list[Body] = []
    message: Body = {"role": "assistant", "content": content, "provider": "anthropic"}
    stop: object = None
    answered: set[str] = set()
    """Calls that the provider itself ran, by id."""
    for row in rows:
        piece = message_of(row)
        content += blocks(piece.get("content"))
        answered |= _answered(piece.get("content"))
        if isinstance(piece.get("model"), str) and piece["model"] != SYNTHETIC:
            message["model"] = piece["model"]
        stop = piece.get("stop_reason") or stop
        if row.get("isApiErrorMessage") is True:
            stop = "error"
        if is_for_show(row):
            message[NEVER_SENT] = True
    if counted and (usage := reply_usage(rows)) is not None:
        message["usage"] = usage
    for block in content:
        if "hosted" in block and block["id"] not in answered:
            block[UNANSWERED] = True
    calls = any(block["type"] == "toolCall" and "hosted" not in block for block in content)
    if stop in ("error", "refusal"):
        message["stopReason"] = "error"
    elif isinstance(stop, str):
        message["stopReason"] = _STOPS.get(stop, "stop")
    else:
        message["stopReason"] = "toolUse" if calls else "stop"
    if message["stopReason"] == "stop" and calls:
        message["stopReason"] = "toolUse"
    return message


def _answered(content: object) -> set[str]:
    """Ids of the calls whose results stand in a reply: the provider itself ran them."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return {str(part["tool_use_id"]) for part in parts if "tool_use_id" in part}


def is_for_show(row: Body) -> bool:
    """Whether a row is only shown: an error of the service in place of a reply, or a row that Claude Code calls virtual (2.1)."""
    failed = row.get("isApiErrorMessage") is True and message_of(row).get("model") == SYNTHETIC
    return failed or row.get("isVirtual") is True


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def native_usage(usage: object, cost: object = None) -> Body | None:
    """Counts of one request in the native form; None where nothing was counted."""
    if not isinstance(usage, dict):
        return None
    sent, written, read, output = (
        _count(usage.get(key))
        for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    )
    if not sent + written + read + output:
        return None
    found: Body = {
        "input": sent,
        "output": output,
        "cacheRead": read,
        "cacheWrite": written,
        "totalTokens": sent + output + read + written,
    }
    details = usage.get("output_tokens_details")
    thought = _count(details.get("thinking_tokens")) if isinstance(details, dict) else 0
    if thought:
        found["reasoning"] = thought
    if finite(cost) is not None:
        found["cost"] = {"total": cost}
    return found


def injected_name(row: Body, text: str) -> str:
    """The kind of an injected message, in a word or two."""
    attachment = row.get("attachment")
    if isinstance(attachment, dict):
        return f"claude.{attachment.get('type') or 'attachment'}"
    if row.get("type") == "system":
        return f"claude.{row.get('subtype') or 'system'}"
    tag = tag_of(text)
    if tag:
        return f"claude.{tag}"
    if row.get("isSidechain") is True:
        return "claude.subagent-prompt"
    origin = row.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return f"claude.{kind if isinstance(kind, str) and kind != 'human' else 'meta'}"


_OF_AGENT_TAGS = frozenset(
    {
        "command-name", "command-args", "local-command-stdout", "local-command-stderr", "local-command-caveat",
        "system-reminder", "user-memory-input", "tick",
    }
)  # fmt: skip
_OF_CONVERSATION = frozenset(
    {
        "queued_command", "file", "directory", "pdf_reference", "mcp_resource", "compact_file_reference",
        "already_read_file", "edited_text_file", "edited_image_file", "selected_lines_in_ide", "plan_file_reference",
        "invoked_skills", "task_status", "diagnostics", "hook_additional_context", "hook_blocking_error",
        "hook_success", "async_hook_response", "agent_mention", "skill_mention", "at_mention_reference",
        "selected_lines_in_diff", "teammate_mailbox",
    }
)  # fmt: skip
"""Attachments about the work: files that a person named, prompts typed meanwhile, skills that were called, output of hooks and
tasks. All others tell the model how Claude Code works."""


def is_of_agent(row: Body, text: str) -> bool:
    """Whether an injected message is one that Claude Code puts into every session by itself, as each agent does."""
    attachment = row.get("attachment")
    if isinstance(attachment, dict):
        return str(attachment.get("type")) not in _OF_CONVERSATION
    return row.get("type") == "system" or tag_of(text) in _OF_AGENT_TAGS or text.startswith(CAVEAT)


def exit_code(text: str) -> int | None:
    """The status at the beginning of a failed command's result."""
    head, _, rest = text[:40].partition("Exit code ")
    digits = rest.split("\n", 1)[0].strip()
    return int(digits) if not head and digits.removeprefix("-").isdecimal() and len(digits) < 12 else None


def patch_text(answer: object) -> str | None:
    """The patch that a tool recorded of its change, as a diff with line numbers."""
    hunks = answer.get("structuredPatch") if isinstance(answer, dict) else None
    lines: list[str] = []
    for hunk in hunks if isinstance(hunks, list) else ():
        if not isinstance(hunk, dict):
            continue
        old, new = _count(hunk.get("oldStart")), _count(hunk.get("newStart"))
        listed = hunk.get("lines")
        if lines:
            lines.append("   ...")
        for line in listed if isinstance(listed, list) else ():
            if not isinstance(line, str) or not line:
                continue
            sign, text = line[0], line[1:]
            if sign == "+":
                lines.append(f"+{new} {text}")
                new += 1
            elif sign in "- ":
                lines.append(f"{sign}{old} {text}")
                old += 1
                new += sign == " "
    return "\n".join(lines) or None
