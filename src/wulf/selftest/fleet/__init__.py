"""A cluster over a year, simulated: nodes that fail, fail slowly and flap, and the sentry that watches them."""
