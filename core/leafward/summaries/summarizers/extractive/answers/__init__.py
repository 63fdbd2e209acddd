"""The model's own sentences: results, decisions with their reasons, remaining work."""
