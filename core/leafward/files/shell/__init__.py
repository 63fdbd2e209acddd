"""Effects of shell scripts on files, as far as their words tell them."""
