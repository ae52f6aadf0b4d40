"""`python -m toolkit`: the command `toolwire`, for where it is not on the path."""

import sys

from toolkit.cli import main

if __name__ == "__main__":  # whoever walks through the modules of a package imports this one, too
    sys.exit(main())
