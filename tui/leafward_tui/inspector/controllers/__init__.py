"""The page that the inspector shows: of which entry and tab, read in a job, found in."""
