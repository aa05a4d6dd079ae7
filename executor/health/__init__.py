"""How the host is: probes that look, judgements that decide, and one report of both."""
