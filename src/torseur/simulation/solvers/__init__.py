"""Integration methods: each is data plus a small step, written as expressions and compiled to one native function."""
