"""Anthropic's Claude Code. The agent itself is `agent.Claude`; its programs around a compaction do not need it."""
