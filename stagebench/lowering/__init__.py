"""Variants to results: compiler environments, the cache, the worker process."""
