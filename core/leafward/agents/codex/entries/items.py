"""Items of Codex as native bodies: messages, replies, calls and their results."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from leafward.agents.codex.entries import code_mode
from leafward.agents.codex.entries.records import Role, as_object, line_of, payload_of
from leafward.agents.codex.tools import STOPPED
from leafward.agents.native_lines import described, document, plain_json
from leafward.session.entries import Kind, object_at
from leafward.session.transcript import NAMESPACE, RESHAPED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import Body

REVIEWED = "<user_action>"
"""Beginning of the message in which Codex tells a thread what a review of its own thread found."""
_INJECTED = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<user_instructions>|<environment_context>|<ENVIRONMENT_CONTEXT>|<turn_aborted>"
    r"|<subagent_notification>|<user_action>|<skills?[ >_]|<permissions|<user_shell_command>|<model_switch>|<collaboration_mode>|<apps?[ >_]"
    r"|<goal_context>|<recommended_plugins>|<codex_internal_context[ >]|<hook|<personality|<plugins?[ >_]|<memor|<realtime|<INSTRUCTIONS>|Warning: |"
    r"Another language model started to solve this problem)"
)
"""Beginnings of user messages that no person wrote, in versions that do not record the kind of a message."""
_TAG = re.compile(r"\s*(<[A-Za-z_]+[^>]{0,40}>|# AGENTS\.md|Warning:)")
_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=-]+)*;base64,")
_FRAME = re.compile(r"\s*<image([^>]{0,4096})>\s*")
_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code) (-?\d{1,18})")
_HEADER_SIZE = 400
_REFUSED = (
    "unsupported call:",
    "unsupported custom tool call:",
    "failed to parse function arguments",
    "apply_patch verification failed",
    # Codex 0.169 runs no `rm -f` and the like: it answers the call without running it.
    "exec_command failed",
    "write_stdin failed",
    "unable to locate image",
    "unable to process image",
    "request_user_input is unavailable",
    "update_plan is a TODO",
    "exec command rejected",
    "patch rejected",
    "write_stdin rejected",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    "tool call error:",
)
"""Beginnings of outputs of calls that Codex did not run, or that failed without an exit code."""
_ANSWERED_IN_JSON = frozenset(
    {
        "spawn_agent", "spawn_agents_on_csv", "wait_agent", "close_agent", "resume_agent", "interrupt_agent", "list_agents",
        "send_input", "send_message", "followup_task", "assign_task", "create_goal", "get_goal", "update_goal",
    }
)  # fmt: skip
"""Tools of Codex that answer with an object, or with nothing: words are the reason why the call failed (0.101 to 0.171)."""
_SERVER = "mcp__"
"""Beginning of the namespace of tools that are not Codex's own."""
_STOPPED = re.compile(STOPPED)


def content_of(item: dict[str, Any]) -> list[Any]:
    """The content list of a message; a plain string is one text."""
    content = item.get("content")
    if isinstance(content, str):
        return [{"type": "input_text", "text": content}]
    return content if isinstance(content, list) else []


def item_text(item: dict[str, Any]) -> str:
    """The texts of a message, joined."""
    content = content_of(item)
    if len(content) == 1:
        text = content[0].get("text") if isinstance(content[0], dict) else None
        return text if isinstance(text, str) else ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join([text for text in texts if isinstance(text, str)])


def prompt_of(payload: dict[str, Any]) -> str | None:
    """The typed text in an event; None for an injected one (old versions mark those)."""
    if payload.get("kind") not in (None, "plain"):
        return None
    item = payload.get("item")
    if isinstance(item, dict):
        return item_text(item)
    message = payload.get("message")
    return message if isinstance(message, str) else None


def is_injected(payload: dict[str, Any], text: str) -> bool | None:
    """Whether nobody typed a user message; None where neither the message nor its beginning tells."""
    if payload.get("role") != "user":
        return True
    passed = payload.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    if isinstance(kinds, list) and kinds:
        return not any(isinstance(kind, str) and kind.startswith("user.") for kind in kinds)
    return True if _INJECTED.match(text) else None


def injected_name(payload: dict[str, Any], text: str) -> str:
    """The kind of an injected message, in a word or two."""
    passed = payload.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    if isinstance(kinds, list) and kinds and isinstance(kinds[0], str) and kinds[0] != "unknown":
        return f"codex.{kinds[0]}"
    tag = _TAG.match(text)
    if tag is not None:
        word = re.sub(r"[^A-Za-z_.]", "", tag[1].split(" ")[0] if tag[1].startswith("<") else tag[1])
        return f"codex.{word}"
    role = payload.get("role")
    return f"codex.{role if isinstance(role, str) and role != 'user' else payload.get('type') or 'context'}"


_OF_AGENT = re.compile(
    r"codex\.(?:.*\.instructions|environments\.|AGENTS\.md|user_instructions|environment_context|ENVIRONMENT_CONTEXT|skills?|permissions"
    r"|model_switch|collaboration_mode|apps?\b|goal_context|personality|plugins?|recommended_plugins|memor|realtime|INSTRUCTIONS|Warning)"
)
"""Names of injected messages under the user's name of which every agent has its own, or that are about Codex's own tools."""


def is_of_agent(payload: dict[str, Any], name: str) -> bool:
    """Whether an injected message of that name is one that Codex puts into every session by itself, as each agent does."""
    if payload.get("type") == "agent_message":
        return False
    return payload.get("role") != "user" or _OF_AGENT.match(name) is not None


def kind_of_item(item: dict[str, Any]) -> Kind:
    """The kind of an item that occurs only in a compaction."""
    role = line_of({"type": "response_item", "payload": item}).role
    return {Role.REPLY: Kind.ASSISTANT, Role.RESULT: Kind.TOOL_RESULT}.get(role, Kind.INJECTED)


def effort_of(payload: dict[str, Any]) -> str | None:
    """The reasoning effort that a turn's context names."""
    effort = payload.get("effort")
    if effort is None:
        mode = payload.get("collaboration_mode")
        settings = mode.get("settings") if isinstance(mode, dict) else None
        effort = settings.get("reasoning_effort") if isinstance(settings, dict) else None
    return effort if isinstance(effort, str) and effort else None


def blocks(content: Iterable[Any]) -> list[Body]:
    """Content of a message as native blocks."""
    found: list[Body] = []
    for part in content:
        if isinstance(part, dict) and part.get("type") in ("input_image", "image", "output_image"):
            found.append(_image(part))
        elif isinstance(part, dict) and part.get("type") == "input_file":
            name = part.get("filename") or part.get("file_url") or part.get("file_id") or ""
            found.append(document(f"[file {name}]", None))
        elif part is not None:
            found.append({"type": "text", "text": _text_of(part)})
    return _without_frames(found)


def _text_of(part: object) -> str:
    """A part that is not an image: its text, or else its type."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else plain_json(part)
    kind = part.get("type")
    for name in ("text", "refusal"):
        if isinstance(part.get(name), str):
            return str(part[name])
    if kind == "encrypted_content":
        return f"[encrypted, {len(str(part.get('encrypted_content'))):,} characters]"
    return described(part)


def _without_frames(found: list[Body]) -> list[Body]:
    """Images with the surrounding tags (0.16x) folded into them."""
    if not any(block["type"] == "image" for block in found):
        return found
    kept: list[Body] = []
    for place, block in enumerate(found):
        text = block.get("text")
        if isinstance(text, str):
            following = found[place + 1] if place + 1 < len(found) else {}
            if following.get("type") == "image" and (frame := _FRAME.fullmatch(text)):
                following["name"] = frame[1].strip()
                continue
            if text.strip() == "</image>" and place and found[place - 1]["type"] == "image":
                continue
        kept.append(block)
    return kept


def _image(part: dict[str, Any]) -> Body:
    address = part.get("image_url") or part.get("url") or ""
    if isinstance(address, dict):
        address = address.get("url") or ""
    address = str(address)
    found = _DATA_URL.match(address)
    if found is not None:
        return {"type": "image", "data": address[found.end() :], "mimeType": found[1] or "image/png"}
    return {"type": "text", "text": f"[image {address[:200]}]"}


def user_message(payload: dict[str, Any]) -> list[Body]:
    """The blocks of a user's message, from an item or from the event that repeats it."""
    item = payload.get("item")
    if isinstance(item, dict):
        payload = item
    if "content" in payload:
        return blocks(content_of(payload))
    text = payload.get("message")
    found: list[Body] = [{"type": "text", "text": text if isinstance(text, str) else ""}]
    images = payload.get("images")
    return found + [_image({"image_url": one}) for one in (images if isinstance(images, list) else ())]


_REQUEST = re.compile(r"^## My request for Codex:", re.MULTILINE)
"""Heading behind an editor's list of open files and selections; Codex, too, titles a thread by the text behind it."""
_ATTACHED = re.compile(
    r"\A\s*# (?:Files|Images|Context|In app browser|Selected text)\b[^\n]{0,80}:[ \t]*\n(?s:.*?)^## My request:",
    re.MULTILINE,
)
"""The same from Codex's desktop application (0.130 and later), behind files that were attached or pasted."""


_FILES = re.compile(r"\A\s*# Files\b[^\n]{0,80}:")
_FILE = re.compile(r"^## ([^\n]{1,300}?): (?:[A-Za-z]:\\|[/~\\])[^\n]*$", re.MULTILINE)
"""A file in that list: its name, and where it lies."""


def typed_in(text: str) -> str | None:
    """The typed part of a message that an editor composed; None for any other message.

    Where nothing was typed beside files that were attached, their names.
    """
    found = _REQUEST.search(text) or _ATTACHED.match(text)
    if found is None:
        return None
    return text[found.end() :].strip() or ", ".join(_attached_names(text[: found.end()])) or None


def _attached_names(frame: str) -> list[str]:
    """The names of the files that an editor lists ahead of a request."""
    if _FILES.match(frame) is None:
        return []
    return [one[1].strip() for one in _FILE.finditer(frame)]


# --- replies ---

_HOSTED = frozenset({"web_search_call", "image_generation_call", "tool_search_call", "mcp_call"})
"""Calls that the provider runs itself: their results may be missing from the file."""


_HOSTED_FIELDS = frozenset(
    {"action", "query", "arguments", "revised_prompt", "result", "output", "error", "status", "execution"}
)


def reply_blocks(records: Iterable[Body]) -> list[Body]:
    """The blocks of one reply; events stand in for content without an item."""
    found: list[Body] = []
    echoes: list[Body] = []
    for record in records:
        payload = payload_of(record)
        if record.get("type") == "response_item":
            found += item_blocks(payload)
        else:
            echo = _echo(payload)
            if echo is not None:
                echoes.append(echo)
    known = {
        kind: "\n".join(str(one.get(kind, "")) for one in found if one["type"] == kind)
        for kind in ("text", "thinking")
    }
    missing = [echo for echo in echoes if echo[echo["type"]].strip() not in known[echo["type"]]]
    return (
        [one for one in missing if one["type"] == "thinking"]
        + found
        + [one for one in missing if one["type"] == "text"]
    )


def blocks_in(record: Body) -> list[Body]:
    """The blocks of one record: an item of a reply, or an event that repeats one."""
    payload = payload_of(record)
    if record.get("type") == "response_item":
        return item_blocks(payload)
    echo = _echo(payload)
    return [echo] if echo is not None else []


def _echo(payload: dict[str, Any]) -> Body | None:
    kind = payload.get("type")
    if kind == "agent_message" and isinstance(payload.get("message"), str):
        return {"type": "text", "text": payload["message"]}
    if kind in ("agent_reasoning", "agent_reasoning_raw_content") and isinstance(payload.get("text"), str):
        return {"type": "thinking", "thinking": payload["text"]}
    item = payload.get("item")
    if kind != "item_completed" or not isinstance(item, dict):
        return None
    if item.get("type") == "AgentMessage":
        return {"type": "text", "text": item_text(item)}
    if item.get("type") == "Reasoning":
        summary = item.get("summary_text")
        return {
            "type": "thinking",
            "thinking": "\n\n".join(map(str, summary if isinstance(summary, list) else ())),
        }
    return None


def item_blocks(item: dict[str, Any]) -> list[Body]:
    """One item of a reply as native blocks."""
    kind = item.get("type")
    if kind in (None, "message"):
        return blocks(content_of(item))
    if kind == "reasoning":
        return _reasoning(item)
    return [call_block(item)]


def _reasoning(item: dict[str, Any]) -> list[Body]:
    texts = [
        part["text"]
        for name in ("summary", "content")
        for part in (item[name] if isinstance(item.get(name), list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    block: Body = {"type": "thinking", "thinking": "\n\n".join(texts)}
    hidden = item.get("encrypted_content")
    if isinstance(hidden, str) and hidden:
        block["encrypted"] = len(hidden)
    return [block] if texts or "encrypted" in block else []


def call_block(item: dict[str, Any]) -> Body:
    """A call as a native block."""
    kind = item.get("type")
    call = item.get("call_id") or item.get("id") or ""
    name = item.get("name")
    arguments: Any
    reshaped = False
    if kind == "local_shell_call":
        name, arguments = "local_shell", object_at(item, "action")
    elif kind == "custom_tool_call":
        call_made = code_mode.single_call(item.get("input")) if name == code_mode.TOOL else None
        name, arguments = call_made or (name, {"input": item.get("input")})
    elif kind in _HOSTED:
        name = name or str(kind).removesuffix("_call")
        arguments = {
            key: value if key != "result" else f"[{len(str(value)):,} characters]"
            for key, value in item.items()
            if key in _HOSTED_FIELDS and value is not None
        }
    else:
        raw = item.get("arguments", item.get("input"))
        arguments = as_object(raw)
        if arguments is None:
            reshaped = raw not in (None, "")
            arguments = {"input": raw} if reshaped else {}
    space = item.get("namespace")
    block: Body = {
        "type": "toolCall",
        "id": str(call),
        "name": f"{space}.{name}" if isinstance(space, str) and space else str(name or kind or ""),
        "arguments": arguments,
    }
    if isinstance(space, str) and space:
        block[NAMESPACE] = space
    if reshaped:
        block[RESHAPED] = True
    if kind in _HOSTED and not (kind == "tool_search_call" and item.get("call_id")):
        block["hosted"] = True
    return block


# --- results ---


def result_content(item: dict[str, Any]) -> list[Body]:
    """The blocks of a call's output; where old versions wrote JSON in a string, the output inside it."""
    output = item.get("output", item.get("tools", item.get("result")))
    if isinstance(output, dict):
        inner = output.get("content", output.get("output"))
        output = inner if isinstance(inner, (str, list)) else plain_json(output)
    if isinstance(output, list):
        return blocks(output) or [{"type": "text", "text": ""}]
    text = output if isinstance(output, str) else "" if output is None else plain_json(output)
    inside = as_object(text) if text.startswith('{"output"') else None
    if inside is not None and isinstance(inside.get("output"), str):
        text = inside["output"]
    return [{"type": "text", "text": text}]


def failure_of(item: dict[str, Any], answers: Iterable[dict[str, Any]], tool: str) -> tuple[bool, int | None]:
    """Whether a call of a tool failed, and its exit code where it is known: from records about the call, else from its output."""
    code: int | None = None
    for answer in answers:
        status = answer.get("status")
        if isinstance(answer.get("exit_code"), int):
            code = answer["exit_code"]
        if answer.get("success") is False or status in ("failed", "declined", "error") or _went_wrong(answer):
            return True, code
    output = item.get("output")
    if code_mode.has_failed(output):
        return True, code
    inside = output if isinstance(output, dict) else as_object(output)
    if inside is not None:
        if inside.get("success") is False:
            return True, code
        meta = inside.get("metadata")
        exit_code = meta.get("exit_code") if isinstance(meta, dict) else None
        code = exit_code if isinstance(exit_code, int) else code
    elif code is None and isinstance(output, str):
        found = _EXIT.search(output[:_HEADER_SIZE])
        code = int(found[1]) if found is not None else None
    elif code is None:
        code = code_mode.exit_code_in(output)
    text = output if isinstance(output, str) else ""
    space, _, name = tool.rpartition(".")
    explained = name in _ANSWERED_IN_JSON and inside is None and not space.startswith(_SERVER)
    refused = (
        text.startswith(_REFUSED) or _STOPPED.match(text) is not None or (explained and bool(text.strip()))
    )
    return refused or (code is not None and code != 0), code


def _went_wrong(answer: dict[str, Any]) -> bool:
    """Whether the result of an MCP tool reports a failure: an error instead of a result, or a result marked as an error."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return False
    inner = result.get("Ok", result)
    flags = (inner.get("is_error"), inner.get("isError")) if isinstance(inner, dict) else ()
    return "Err" in result or True in flags


def printed_in(answer: dict[str, Any]) -> list[str]:
    """The files that a command printed according to Codex itself, where the command does more than print them."""
    parts = answer.get("parsed_cmd")
    if not isinstance(parts, list) or len(parts) < 2:
        return []
    folder = answer.get("cwd")
    folder = unquote(folder.removeprefix("file://")) if isinstance(folder, str) else ""
    return [
        posixpath.join(folder, path)
        for part in parts
        if isinstance(part, dict) and part.get("type") == "read" and isinstance(path := part.get("path"), str)
    ]


def usage_in(records: Iterable[Body]) -> Body | None:
    """The usage of a reply: as recorded with its response, else the first count behind it with any figures."""
    counted: Body | None = None
    for record in records:
        payload = payload_of(record)
        if record.get("type") == "token_usage_record":
            return native_usage(payload.get("usage"))
        if record.get("type") == "event_msg" and payload.get("type") == "token_count" and counted is None:
            info = payload.get("info")
            counted = native_usage(info.get("last_token_usage") if isinstance(info, dict) else None)
    return counted


def native_usage(usage: object) -> Body | None:
    """Codex's counts in the native form: its input includes tokens read from the cache."""
    if not isinstance(usage, dict):
        return None
    counts = {
        key: value
        for key, value in usage.items()
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0
    }
    sent, read, written = (
        counts.get(key, 0) for key in ("input_tokens", "cached_input_tokens", "cache_write_input_tokens")
    )
    output = counts.get("output_tokens", 0)
    if not sent and not output:
        return None
    return {
        "input": max(0, sent - read - written),
        "output": output,
        "cacheRead": read,
        "cacheWrite": written,
        "reasoning": counts.get("reasoning_output_tokens", 0),
        "totalTokens": counts.get("total_tokens", sent + output),
    }
