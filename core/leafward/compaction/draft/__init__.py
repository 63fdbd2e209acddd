"""A compaction with its summary before it is written: made from a plan, held back by the gate, or made to correct another."""
