"""What the compiler did, derived from observations and generated CUDA; one fact a module."""
