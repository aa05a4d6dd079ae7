"""The verbs of the command line, a module for those that belong together."""
