"""Controllers of the explorer, each a plain object made with the state, the view, the services and the jobs."""
