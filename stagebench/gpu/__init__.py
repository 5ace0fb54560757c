"""What does each variant compute on a device, and how long does it take?

Needs ``cuda-bindings``, numpy and this package on the GPU host; imports them only when it runs.
"""
