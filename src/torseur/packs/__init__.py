"""Packs: what is built on the core for one kind of machine."""
