"""Full screens of any feature: frame, search, results."""
