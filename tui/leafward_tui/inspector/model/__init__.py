"""The pages of the inspector: pure, a module for each tab and for each part of a tab."""
