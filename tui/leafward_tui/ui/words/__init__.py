"""Operations, prices and sizes in words, the same on every screen. Pure."""
