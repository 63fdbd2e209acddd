"""What an agent's calls do, what they print, and how they end."""
