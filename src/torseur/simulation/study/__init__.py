"""What is to be simulated: the record of a study, its files, its checks, its schema.

Imports ``blocks``, and the methods by their names.
"""
