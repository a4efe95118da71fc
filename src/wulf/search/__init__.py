"""Search for the fastest configuration: spaces, surrogate, strategy, journal. Pure: no node is touched."""
