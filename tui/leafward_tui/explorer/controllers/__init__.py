"""What the explorer does, each part a plain object made with the state, the view, the services and the jobs."""
