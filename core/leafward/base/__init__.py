"""Foundations of every room: errors, times, folders, settings, safe and redacted text. Imports nothing of Leafward.

Public: `errors`, `times`, `paths`, `config`, `safe_text`, `shown_path`, `figures`, `redact`, `emphasis`, `globs`,
`regular_files`, `strategies`, `model_windows`, `worker_processes`, `gc_pause`.
"""
