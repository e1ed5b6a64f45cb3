"""From a study to a run: everything else is put together here.

Imports all other rooms; none imports it.
"""
