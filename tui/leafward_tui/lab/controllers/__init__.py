"""What the lab does, in plain objects without a widget."""
