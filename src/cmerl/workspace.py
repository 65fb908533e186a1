"""Room for the libraries of linear algebra, asked for before they do.

OpenBLAS tries for ever to get its buffers where a limit of memory (``ulimit -v``) leaves too little: a run would hang
without a word. So whoever is about to load or to call it for the first time asks here first.
"""

from __future__ import annotations

import mmap

ROOM = 192 << 20  # bytes of address space that loading one such library and its first calls take, and some more


def check_room() -> None:
    """Raise MemoryError if the libraries of linear algebra would not find the address space that they need."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError:
        raise MemoryError(f"less than {ROOM >> 20} MB of address space are left for linear algebra") from None
