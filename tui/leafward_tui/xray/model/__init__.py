"""The X-ray of a compaction as it is shown, without a screen: lines of both sides, folds, connectors, words."""
