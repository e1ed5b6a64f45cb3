"""Mechanics as expressions: one quantity a file, each written once."""
