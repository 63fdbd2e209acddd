"""pi, whose files are our native format. The agent itself is `agent.Pi`; what it runs around a compaction needs none of that."""
