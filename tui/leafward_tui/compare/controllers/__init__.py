"""Reading both sides of a comparison, the keys of its pages, search, export, and content carried to the other side."""
