"""``python -m torseur``: the command line."""

import sys

from torseur.cli import main

if __name__ == "__main__":
    sys.exit(main())
