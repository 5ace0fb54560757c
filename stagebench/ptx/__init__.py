"""What does PTX say?  Reader, control flow, synchronisation, and a walk on integers alone."""
