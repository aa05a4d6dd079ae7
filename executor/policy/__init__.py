"""What may run and who must say yes. Pure: no I/O, no clock, no environment."""
