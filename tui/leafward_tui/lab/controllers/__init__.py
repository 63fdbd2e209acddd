"""Controllers of the lab: plain objects without a widget."""
