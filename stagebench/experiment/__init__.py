"""What is to be lowered: kernel references, axes, and the sweep over every combination."""
