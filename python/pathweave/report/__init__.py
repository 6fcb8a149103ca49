"""The report: a page and pictures."""
