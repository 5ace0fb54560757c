"""Facts for people: records to rows, rows to a terminal."""
