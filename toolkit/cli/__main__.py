"""`python -m toolkit.cli`, for where the command `toolwire` is not on the path."""

import sys

from toolkit.cli import main

sys.exit(main())
