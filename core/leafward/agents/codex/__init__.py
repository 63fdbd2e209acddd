"""OpenAI's Codex CLI. The agent itself is `agent.Codex`; what it runs around a compaction needs none of that."""
