"""Foundations of every room: errors, times, folders, settings, safe text, files read and written whole. Imports nothing of Leafward.

Public: `errors`, `times`, `paths`, `config`, `safe_text`, `shown_path`, `figures`, `emphasis`, `globs`,
`regular_files`, `durable`, `output_file`, `strategies`, `model_windows`, `worker_processes`, `gc_pause`.
"""
