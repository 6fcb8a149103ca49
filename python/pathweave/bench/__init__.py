"""Speed of the engine on the cases under benches/."""
