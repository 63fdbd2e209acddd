"""Rebuilt contents: the files as the recorded calls of a path left them, each exact, partial or unknown.

`path_files` is the entrance. `step_reader` reads the `steps` of a path in one pass, `replay` repeats them; `knowledge` is what is known
of one file, by `spans`, and `git_index` what git has of it. `calls` reads values again, `patches` and `recorded_diffs` apply changes,
`overlaps` and `side_by_side` say where that is not certain, `bases` what was there before. `timeline` lists the steps of one file,
`output_folder` writes the contents.
"""
