"""How does generated CUDA become PTX, machine code and SASS, and what did the assembler say?"""
