"""Where notices go: one file per kind of channel."""
