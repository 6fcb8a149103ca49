"""What decided an answer: sentences on what makes variants differ from their baseline."""

from pathweave.results.advice.adviser import advise

__all__ = ["advise"]
