"""What travels to a GPU host: cubins, how to launch them, what they should agree with.

Nothing here imports a compiler, a CUDA binding or numpy.
"""
