"""Laravel's queues: how full they are, how their workers are restarted, and how that is proved."""
