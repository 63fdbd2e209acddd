"""pi, whose files are our native format. The agent itself is `agent.Pi`; its hooks do not need it."""
