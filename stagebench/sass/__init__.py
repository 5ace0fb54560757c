"""What did the assembler make?  Readers of nvdisasm's text, and facts of the machine code in it."""
