"""The long-running host process around the executor: command line, schedule, approvals."""
