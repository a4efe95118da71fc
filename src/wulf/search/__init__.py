"""Search for the fastest configuration: spaces, surrogate, strategy, journal, replay. Pure: no node is touched."""
