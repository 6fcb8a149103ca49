"""What changed between two sets of results of one scenario, and whether seeds alone explain it."""
