"""Finds network and shared file systems, which send no events for the changes that other machines make."""

import os
import re
from collections.abc import Callable
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")  # Paths there have a space, a tab and their like escaped.
# Linux sends events for what this machine writes, not for what others write.
_SHARED_FILES = frozenset({"9p", "afs", "ceph", "cifs", "drvfs", "nfs", "nfs4", "smb3", "smbfs", "fuse.sshfs"})
_SHARED_WITH_HOST = frozenset({"fakeowner", "vboxsf", "virtiofs", "fuse.grpcfuse", "fuse.osxfs", "fuse.vmhgfs-fuse"})


def shared_file_system(root: Path, may_contain_files: Callable[[str], bool]) -> str:
    """Return the type of the shared file system of a tree or of a folder mounted in it, "" if there is none.

    may_contain_files: whether a folder, relative to the root, may contain files to index; other mounts are ignored.
    """
    try:
        device = root.stat().st_dev
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    for mount in mounts.splitlines():
        where, _, kind = mount.partition(" - ")
        _, _, number, _, point, *_ = where.split(" ")
        name = kind.split(" ")[0]
        if name in _SHARED_FILES | _SHARED_WITH_HOST:
            place = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), point))
            is_inside = root in place.parents and may_contain_files(place.relative_to(root).as_posix())
            if is_inside or number == f"{os.major(device)}:{os.minor(device)}":
                return name
    return ""
