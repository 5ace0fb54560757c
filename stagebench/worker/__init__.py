"""The process that owns a compiler: its entry, its protocol, its server."""
