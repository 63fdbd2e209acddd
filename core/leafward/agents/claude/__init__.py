"""Anthropic's Claude Code. The agent itself is `agent.Claude`; what it runs around a compaction needs none of that."""
