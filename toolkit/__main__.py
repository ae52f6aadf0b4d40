"""`python -m toolkit`: the command `toolwire`, for where it is not on the path."""

import sys

from toolkit.cli import main

sys.exit(main())
