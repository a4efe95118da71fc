"""Malformed input, by the thousand: every one has to end as a clear error. `make bad-input`."""
