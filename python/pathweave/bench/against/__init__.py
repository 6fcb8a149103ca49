"""The same permutation of unlimited flows in another simulator and in Pathweave, in turn."""
