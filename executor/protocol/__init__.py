"""What crosses the shared directory: flag names, bodies, results, and the directory itself."""
