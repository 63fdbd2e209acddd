"""pi, whose files are our native format. The agent itself is `agent.Pi`; its programs around a compaction do not need it."""
