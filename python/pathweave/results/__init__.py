"""Results on disk, and as frames, summaries and comparisons."""
