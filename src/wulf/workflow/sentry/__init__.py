"""The watch over months, joined: its state with runs, for reports and metrics."""
