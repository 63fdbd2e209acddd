"""OpenAI's Codex CLI. The agent itself is `agent.Codex`; its programs around a compaction do not need it."""
