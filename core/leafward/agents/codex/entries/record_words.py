"""Plain words for Codex's own records and for the context it adds: what a screen shows in place of their names."""

from __future__ import annotations

_EVENTS = {
    "session_meta": "about the session: folder, version, instructions",
    "turn_context": "settings of the turn: model, folder, permissions",
    "thread_settings_applied": "settings from here on: model, folder, permissions",
    "world_state": "state sent to the model: rules, tools, folder",
    "task_started": "turn started",
    "task_complete": "turn finished",
    "turn_aborted": "turn interrupted",
    "entered_review_mode": "review started",
    "exited_review_mode": "review finished",
    "guardian_assessment": "risk of a command assessed",
    "thread_goal_updated": "goal changed",
    "undo_completed": "undo finished",
    "collab_agent_spawn_end": "sub-agent started",
    "collab_agent_interaction_end": "message to a sub-agent sent",
    "collab_waiting_end": "wait for sub-agents over",
    "collab_close_end": "sub-agent closed",
    "sub_agent_activity": "what a sub-agent does",
    "inter_agent_communication_metadata": "about a message between agents",
    "dynamic_tool_call_request": "call of a tool of the editor",
}
_ADDED = {
    "AGENTS.md": "AGENTS.md",
    "agents_md.instructions": "AGENTS.md",
    "user_instructions": "AGENTS.md",
    "host_skills.instructions": "skills",
    "environment_context": "environment",
    "ENVIRONMENT_CONTEXT": "environment",
    "turn_aborted": "turn interrupted",
    "subagent_notification": "news of a sub-agent",
    "developer": "instructions by Codex",
    "message": "context",
}


def event_words(name: str) -> str:
    """A record that is no message, in a few words; empty for one that is shown by its name."""
    return _EVENTS.get(name, "")


def added_words(name: str) -> str:
    """The kind of an added message in a word or two, from its `codex.` name; empty for one that is shown by its name."""
    bare = name.removeprefix("codex.")
    # Since 0.169 its kinds have the part of Codex that adds them ahead: `environments.environment_context`.
    return _ADDED.get(bare) or _ADDED.get(bare.partition(".")[2], "")
