"""opencode. The agent itself is `agent.OpenCode`; its programs around a compaction do not need it."""
