"""``python -m cmerl`` is the command ``cmerl``."""

from __future__ import annotations

from cmerl.cli import main

if __name__ == "__main__":
    main()
