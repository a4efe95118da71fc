"""A watch over months: its plan, its state on disk, what speaks for a change, which node next. No node is touched."""
