"""When things happen: timed jobs and the watcher of the shared directory."""
