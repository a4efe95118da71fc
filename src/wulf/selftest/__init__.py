"""What the statistics promise, tried on noise whose truth is known: one module an area, each through the product."""
