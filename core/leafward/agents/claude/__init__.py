"""Anthropic's Claude Code. The agent itself is `agent.Claude`; its hooks do not need it."""
