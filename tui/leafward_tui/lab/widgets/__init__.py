"""Widgets of the compaction lab; they show lines made by the model."""
