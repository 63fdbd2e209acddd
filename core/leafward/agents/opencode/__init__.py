"""opencode. The agent itself is `agent.OpenCode`; what it runs around a compaction needs none of that."""
