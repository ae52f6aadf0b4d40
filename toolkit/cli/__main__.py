"""`python -m toolkit.cli`, for where the command `toolwire` is not on the path."""

import sys

from toolkit.cli import main

if __name__ == "__main__":  # whoever walks through the modules of a package imports this one, too
    sys.exit(main())
