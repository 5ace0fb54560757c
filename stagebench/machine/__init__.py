"""What really runs?  Facts of the assembled kernel, from PTX, SASS and device tables."""
