"""The content of the X-ray, without a screen: lines of both sides, folds, connectors, words."""
