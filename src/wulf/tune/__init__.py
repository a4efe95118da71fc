"""Settings of nodes: what is known of each (the catalogue), and which experiment says what a change buys.

Pure: nothing here measures, or touches a node.
"""
