"""Live panes: one pipeline each, the control clients that carry them, and subscriptions. `server` is the door."""
