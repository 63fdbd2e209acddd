"""The injected context: facts that a summary must not lose, put beside it word for word, each line with its sources.

collect → clean → merge → rank → allocate → render → report. The text is a pure function of the entries on the path, the
files of the workspace and the settings.
"""
