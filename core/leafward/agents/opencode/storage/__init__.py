"""Where opencode keeps sessions: its databases, its trees of files, and the records in both."""
