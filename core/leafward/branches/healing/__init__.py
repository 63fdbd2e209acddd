"""Healing: a session that its agent's provider refuses, as messages that it takes; each change has its reason."""
