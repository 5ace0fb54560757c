"""What of loading a user's kernel is the same for every compiler?  Files, names, values, depths."""
