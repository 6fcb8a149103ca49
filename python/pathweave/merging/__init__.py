"""Joining the results of machines that share no disk."""
