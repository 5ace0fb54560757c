"""Checks of generated code from pytest: what the plugin does once a test asks for it."""
