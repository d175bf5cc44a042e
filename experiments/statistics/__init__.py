"""Numbers from arrays; nothing here reads files or draws."""
