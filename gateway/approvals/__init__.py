"""Operators' decisions."""
