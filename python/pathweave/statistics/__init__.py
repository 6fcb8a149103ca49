"""Statistics of values by seed and of completion times; plain numbers in, dataclasses out.

Nothing here knows of folders, tables or the command line. docs/statistics.md explains each number.
"""
