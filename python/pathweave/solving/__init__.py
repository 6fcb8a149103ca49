"""The optimum for scenarios: alone (`pathweave solve`) and beside simulations (`run --optimum`)."""
