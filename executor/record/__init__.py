"""What is remembered (store, audit) and what is shown of it (redaction, display)."""
