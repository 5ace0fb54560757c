"""``python -m stagebench`` is ``stagebench``."""

import sys

from stagebench.cli import main

if __name__ == "__main__":
    sys.exit(main())
