"""Runs as traces for Perfetto, a viewer of events over time."""
