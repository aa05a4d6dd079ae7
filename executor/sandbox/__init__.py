"""The only rooms that start programs: process, environment, confinement."""
