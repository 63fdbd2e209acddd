"""What the explorer works out beside the screen: free functions of values. Loaded when the first of their kind starts."""
