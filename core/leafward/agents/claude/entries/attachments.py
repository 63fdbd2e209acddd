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


def _fields(*names: str) -> Callable[[Mapping[str, Any]], str]:
    """The texts in some fields, and in lists of texts, each on its line."""

    def found(fields: Mapping[str, Any]) -> str:
        values = (fields.get(name) for name in names)
        listed = (value[:_LISTED] if isinstance(value, list) else [value] for value in values)
        return _joined("\n", *(_text(one) for some in listed for one in some))

    return found


def _numbers(*names: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda fields: " ".join(
        str(fields[name]) for name in names if type(fields.get(name)) in (int, float)
    )


def _of(name: str, words: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """The words of the object in a field, or of each in a list of them."""

    def found(fields: Mapping[str, Any]) -> str:
        value = fields.get(name)
        return _joined("\n", *map(words, _dicts([value] if isinstance(value, dict) else value)))

    return found


def _hook_output(fields: Mapping[str, Any]) -> str:
    """The output of a hook that ended well: only two events hand it to the model."""
    return _text(fields.get("content")) if _text(fields.get("hookEvent")) in _SPEAKING_HOOKS else ""


def _answer(fields: Mapping[str, Any]) -> str:
    """The answer of a hook that ran in the background."""
    return _joined(
        "\n",
        _text(fields.get("systemMessage")),
        _of("hookSpecificOutput", _field("additionalContext"))(fields),
    )


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in (value if isinstance(value, list) else ())[:_LISTED] if isinstance(one, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _joined(separator: str, *parts: str) -> str:
    return separator.join(filter(None, parts))


_SPEAKING_HOOKS = frozenset({"SessionStart", "UserPromptSubmit"})
_UNSENT = (
    "already_read_file", "command_permissions", "edited_image_file", "hook_cancelled", "hook_error_during_execution",
    "hook_non_blocking_error", "hook_system_message", "hook_permission_decision", "hook_deferred_tool", "structured_output",
    "max_turns_reached", "current_session_memory", "teammate_shutdown_batch", "context_efficiency", "autocheckpointing",
    "background_task_status", "task_progress", "goal_status", "context_tip", "attention_budget", "withheld_memory",
    "prompt_render_point", "prompt_as_file", "project_doc_reads", "message_pdf_reads", "whole_texts_withdrawn", "thinking_stripped",
    "thinking_drop", "advisor_stripped", "tool_results_cut", "tool_offer_record", "deferred_tools_record", "tool_host_result_lines",
    "async_hook_response_batch", "batching_reminder_sent", "secondary_reminder_sent", "progress_reminder_sent", "credential_org",
    "session_cron_carry", "projects_thread_ask",
)  # fmt: skip
"""Types that are never sent, whatever their fields hold (2.0.42 to 2.1.332)."""
WORDS_OF: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    **dict.fromkeys(_UNSENT, lambda _fields: ""),
    "hook_success": _hook_output,
    "hook_blocking_error": _of("blockingError", _fields("blockingError", "command")),
    "async_hook_response": _of("response", _answer),
    "opened_file_in_ide": _field("filename"),
    "selected_lines_in_ide": _selection,
    "diagnostics": _diagnostics,
    "date_change": _field("newDate"),
    "compact_file_reference": _field("filename"),
    "pdf_reference": _field("filename"),
    "plan_mode": _field("planFilePath"),
    "plan_mode_reentry": _field("planFilePath"),
    "plan_mode_exit": _field("planFilePath"),
    "plan_file_reference": _fields("planFilePath", "planContent"),
    "nested_memory": _of("content", _fields("path", "content")),
    "relevant_memories": _of("memories", _fields("path", "content")),
    "invoked_skills": _of("skills", _fields("name", "path", "content")),
    "deferred_tools_delta": _fields("addedLines", "removedNames"),
    "agent_listing_delta": _fields("addedLines", "removedTypes"),
    "mcp_instructions_delta": _fields("addedBlocks", "removedNames"),
    "mcp_resource": _of("content", _of("contents", _field("text"))),
    "agent_mention": _field("agentType"),
    "skill_mention": _field("skillName"),
    "at_mention_reference": _fields("mentions"),
    "read_truncation_notice": _field("banner"),
    "output_style": _field("style"),
    "ultrathink_effort": _field("level"),
    "background_shell_status": _fields("taskId", "command", "status"),
    "background_remote_session_status": _fields(
        "taskId", "title", "status", "deltaSummarySinceLastFlushToAttachment"
    ),
    "async_agent_status": _fields("agentId", "description", "status", "error"),
    "tool_search_usage_reminder": _fields("undiscoveredToolNames"),
    "mcp_dropped_tools_delta": _fields("addedEntries"),
    "memory_update": _fields("summary", "paths"),
    "inlined_image_paths": _fields("paths"),
    "task_status": _fields("taskId", "taskType", "status", "description", "deltaSummary"),
    "teammate_mailbox": _of("messages", _fields("from", "text")),
    "token_usage": _numbers("used", "total", "remaining"),
    "budget_usd": _numbers("used", "total", "remaining"),
    "output_token_usage": _numbers("turn", "budget", "session"),
}
"""By type, the text of an attachment for the model; empty where its fields are empty, and for types that are not sent."""
