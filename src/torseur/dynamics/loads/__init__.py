"""What acts on a tree: the forces of loads, wheels on roads, and the energies and powers that go with them.

Owns the context that laws of loads are given (`torseur.describe.loads` has the laws). May import `tree`.
"""
