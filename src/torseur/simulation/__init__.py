"""Motion over time: studies, solvers, events, results."""
