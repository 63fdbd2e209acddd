"""What the real pi computes and sends, as data and as tests."""
