"""Sources that travel to the node which compiles them, and wrappers made from tables. Standard library alone."""
