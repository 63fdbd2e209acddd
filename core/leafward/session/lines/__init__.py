"""The lines of a native session file: scanned to columns, decoded one by one, and abridged where they are too large to decode."""
