"""Published papers run again, and judged by what they said."""
