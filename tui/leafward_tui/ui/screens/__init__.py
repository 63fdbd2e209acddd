"""Full screens of any feature: frame, controller, search."""
