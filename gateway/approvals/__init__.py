"""What operators decide and do, whichever door they come through."""
