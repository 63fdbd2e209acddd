"""opencode. The agent itself is `agent.OpenCode`; its hooks do not need it."""
