"""The messages of a span, read once, and the fates of its facts after a compaction: in the summary, in injected context, in kept messages, or lost."""
