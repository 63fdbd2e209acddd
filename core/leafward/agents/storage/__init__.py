"""The forms in which agents keep sessions and settings, without a session's meaning: JSON lines, SQLite, edited JSON, cached reading."""
