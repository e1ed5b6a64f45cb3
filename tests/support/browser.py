"""What tests in a browser share."""

PATIENCE = 600_000  # ms: the processor draws, perhaps busy with other tests
