"""Rebuilt contents against files that were really written: every recorded call is made again in a scratch folder."""
