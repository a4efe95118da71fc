"""Brute force that wulf-replay is held against: the model in its plainest form, programs by chance, closed forms."""
