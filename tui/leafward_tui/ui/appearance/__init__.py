"""How things look: themes, colours, the signs, and what the terminal can show of them."""
