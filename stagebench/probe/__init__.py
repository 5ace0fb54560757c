"""How long does each wait of a kernel take?  Probes in its PTX, a control build, an audit."""
