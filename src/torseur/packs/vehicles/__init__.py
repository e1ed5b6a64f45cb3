"""Vehicles on tyres: short files that expand into ordinary models."""
