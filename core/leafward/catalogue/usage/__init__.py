"""Tokens and costs of many sessions: with nothing counted twice, and added up."""
