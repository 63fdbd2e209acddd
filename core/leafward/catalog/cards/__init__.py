"""Cards of sessions: their fields, a first look at a file, its whole reading here or in other processes, and what was appended since."""
