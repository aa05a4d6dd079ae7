"""First contact: doctor and demo."""
