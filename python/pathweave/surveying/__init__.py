"""Every controller and switch scheme on the same workloads."""
