"""Where opencode keeps sessions: its databases, its trees of files, its exports, and the records in all of them."""
