"""The page of the inspector: its cursor, its folds and its links."""
