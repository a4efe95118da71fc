"""What users install, made of a wheel: packages of distributions, and a bundle for machines without a network."""
