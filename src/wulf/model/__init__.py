"""Models of measured times, pure functions of arrays: speedup over workers, LogGP of messages, roofline of a node."""
