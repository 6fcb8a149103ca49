"""A seeded generator of abuse: what a careless or hostile stranger gives the command.

`python -m abuse` tries all of it; docs/checks.md says what each attempt is held to.
"""
