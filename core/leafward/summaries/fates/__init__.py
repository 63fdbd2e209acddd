"""The fates of a span's facts after a compaction: in the summary, in injected context, in kept messages, or lost."""
