"""One request, end to end: taken from the shared directory, decided, run, recorded, answered."""
