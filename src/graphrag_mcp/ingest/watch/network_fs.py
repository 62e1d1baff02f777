"""Finds folders that others change without this system being told: Windows beside WSL, the host of a container."""

import os
import re
from pathlib import Path

from graphrag_mcp.ingest.watch.filter import Followed

MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")  # Space, tab and the like in the paths there.
# Linux tells of what is written through it, and not of what others write.
_SHARED_FILES = frozenset({"9p", "afs", "ceph", "cifs", "drvfs", "nfs", "nfs4", "smb3", "smbfs", "fuse.sshfs"})
_SHARED_WITH_HOST = frozenset({"fakeowner", "vboxsf", "virtiofs", "fuse.grpcfuse", "fuse.osxfs", "fuse.vmhgfs-fuse"})


def shared_file_system(followed: Followed) -> str:
    """Return the file system of the tree, or of a folder mounted in it, that others may change unseen, "" if none."""
    root = followed.root
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
            is_inside = root in place.parents and followed.may_hold(place.relative_to(root).as_posix())
            if is_inside or number == f"{os.major(device)}:{os.minor(device)}":
                return name
    return ""
