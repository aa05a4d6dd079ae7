"""The chat: how operators are told, asked and heard."""
