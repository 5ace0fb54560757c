"""What really runs?  Facts of the assembled kernel, put together from PTX, SASS and device tables."""
