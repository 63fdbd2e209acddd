"""The tree, the strip and gauge below it, and the two lines that a narrow screen has instead of the inspector."""
