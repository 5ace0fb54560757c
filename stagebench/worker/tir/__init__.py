"""How is TVM's IR read, whichever compiler brought it?  Apache TVM's own, or TileLang's copy."""
