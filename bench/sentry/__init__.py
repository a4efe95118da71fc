"""The sentry over a simulated year, beside testing everything."""
