"""What runs on a node and needs Python: a session that reads facts.

Everything here but `bundle` runs on the node with Python >= 3.9, the standard library, and pyroute2 if it is there.
"""
