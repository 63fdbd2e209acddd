"""OpenAI's Codex CLI. The agent itself is `agent.Codex`; its hooks do not need it."""
