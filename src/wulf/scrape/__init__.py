"""What Prometheus scrapes: metrics as text, and the one server that answers. Knows nothing of what they say."""
