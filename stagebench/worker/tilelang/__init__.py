"""TileLang's adapter: the only package that imports tilelang, tvm or torch."""
