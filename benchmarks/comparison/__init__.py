"""This toolkit, bare loops and other toolkits on the same work.

A peer's process has no Toolwire: what it imports here must not import it.
"""
