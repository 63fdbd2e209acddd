"""The turn after which a command fails: versions of the files along a path, each tried in a folder of its own."""
