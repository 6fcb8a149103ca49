"""Charts of results."""
