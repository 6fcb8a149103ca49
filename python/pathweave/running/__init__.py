"""Running scenarios: what is missing, several at a time, until done or interrupted."""
