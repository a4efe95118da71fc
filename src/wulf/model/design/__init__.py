"""Which cluster does the most of a program's work for a sum: nodes, how many of them, and the network between them."""
