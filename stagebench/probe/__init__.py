"""How long does each wait of a kernel take?  Probes in its PTX, a control without them, an audit."""
