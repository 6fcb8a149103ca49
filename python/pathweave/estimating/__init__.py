"""What runs will take, before they are run: time and memory, from their first moments."""
