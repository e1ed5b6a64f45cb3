"""Pictures of mechanisms."""
