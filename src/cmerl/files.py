"""Safe files: atomic writes, regular files only, no links out of the directory."""

from __future__ import annotations

import errno
import glob
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from cmerl.errors import InputError

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would be waited for


def write_atomically(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write, sync, rename: whoever reads sees the old file or the new one, also after a power cut.

    The new file has a random name until it is whole, and takes the place of nothing but a regular file; a link is not
    followed.
    """
    target = Path(path)
    check_replaceable(target)
    with saying_why(target):
        handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".partial")
        try:
            with open(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fchmod(file.fileno(), 0o666 & ~_umask())
                os.fsync(file.fileno())
            os.replace(partial, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def sweep_partial(path: str | os.PathLike[str]) -> None:
    """Remove what writers of a file left behind that were killed; only for who alone may write it now."""
    target = Path(path)
    for partial in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        with suppress(OSError):  # of another owner, or a folder: it is in nobody's way
            partial.unlink()


def check_replaceable(path: Path) -> None:
    """Refuse to put a file where something else than a regular file is."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise InputError(f"{str(path)!r} is {_kind(mode)}, and not replaced: choose another name, or remove it")


def open_inside(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor of a regular file that is no link and has no other name, made if ``flags`` say so.

    A directory from another user may contain links to foreign files.
    """
    try:
        handle = os.open(path, flags | _NO_LINK | _NO_WAIT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise InputError(f"{os.fspath(path)!r} is a link, which is not followed: remove it") from None
        raise
    found = os.fstat(handle)
    writes = flags & (os.O_WRONLY | os.O_RDWR)
    if not stat.S_ISREG(found.st_mode) or (writes and found.st_nlink > 1):
        os.close(handle)
        why = "has another name elsewhere (a hard link)" if stat.S_ISREG(found.st_mode) else _kind(found.st_mode)
        raise InputError(
            f"{os.fspath(path)!r} {'is ' if why[0] == 'a' else ''}{why}: remove it, or copy the directory"
        )
    return handle


def read_regular(path: str | os.PathLike[str], *, follow: bool = False, most: int | None = None) -> bytes:
    """The contents of a regular file.

    Args:
        path: of the file.
        follow: whether it may be a link, as where the user names it.
        most: bytes that it may have.
    """
    with open_regular(path, follow=follow) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise InputError(f"{os.fspath(path)!r} is larger than {most} bytes")
        return file.read()


def open_regular(path: str | os.PathLike[str], *, follow: bool = False) -> BinaryIO:
    """A regular file to read from; what is none, such as a pipe, is refused rather than waited for."""
    if not follow:
        return os.fdopen(open_inside(path, os.O_RDONLY), "rb")
    handle = os.open(path, os.O_RDONLY | _NO_WAIT | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise InputError(f"{os.fspath(path)!r} is {_kind(mode)}, not a file")
    return os.fdopen(handle, "rb")


def check_directory(path: Path) -> None:
    """Refuse a directory inside a run directory that is a link, or is no directory."""
    mode = os.lstat(path).st_mode
    if not stat.S_ISDIR(mode):
        raise InputError(f"{str(path)!r} is {_kind(mode)}, where a directory should be: remove it")


@contextmanager
def saying_why(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an OSError into a sentence with the place and the fix."""
    try:
        yield
    except OSError as error:
        raise InputError(reason(error, os.fspath(path))) from error


def reason(error: OSError, path: str | None = None) -> str:
    """One sentence on why a file cannot be read or written."""
    where = str(path or error.filename or "a file")
    advice = {
        errno.ENOSPC: "the disk is full: free some space, then go on",
        errno.EDQUOT: "your share of the disk is full: free some space, then go on",
        errno.EROFS: "it is on a disk that can only be read: choose another place",
        errno.EACCES: "you may not: change its permissions, or choose another place",
        errno.EPERM: "you may not: change its permissions, or choose another place",
        errno.ENOENT: "it is not there: was it moved or removed?",
        errno.EMFILE: "too many files are open: raise the limit (ulimit -n)",
    }
    return f"{where!r} cannot be used: {advice.get(error.errno or 0, error.strerror or str(error))}"


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "no regular file")


def _umask() -> int:
    try:  # os.umask would change it for other threads meanwhile
        with open("/proc/self/status") as file:
            return next(int(line.split()[1], 8) for line in file if line.startswith("Umask:"))
    except (OSError, StopIteration):
        return 0o022
