"""One module a verb: it declares the verb's arguments, calls, and prints."""
