"""Gets a Chromium for the browser tests from Debian's packages, and axe-core from npm, into tests/serving/target.

    python -m tests.serving.get_browser

Nothing is installed: the packages that are missing here are unpacked below the folder. Where a Chromium is on the PATH,
or $CHROMIUM names one, only axe-core is downloaded.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hatch_build import Archive, Wanted, extract, is_complete

TARGET = Path(__file__).with_name("target")
FOLDER = TARGET / "chromium"
AXE = TARGET / "axe" / "axe.min.js"
# Inter and JetBrains Mono: the pictures of the documentation look the same on every machine.
PACKAGES = ("chromium", "fonts-inter", "fonts-jetbrains-mono")

# For the tests only: it is MPL-2.0, and never shipped.
AXE_ARCHIVE = Archive(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    (Wanted("axe.min.js", "axe.min.js", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"),),
)

_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>system-ui</family><prefer><family>Inter</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Inter</family></prefer></alias>
  <alias><family>ui-monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
</fontconfig>
"""
_LAUNCHER = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="{libraries}"
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/usr/lib/chromium/chromium" "$@"
"""


def find_chromium() -> str:
    """Return the Chromium to drive: $CHROMIUM, one on the PATH, or the one unpacked here; "" when there is none."""
    unpacked = FOLDER / "chromium"
    named = os.environ.get("CHROMIUM", "")
    return named or shutil.which("chromium") or (str(unpacked) if unpacked.exists() else "")


def unpack_chromium() -> None:
    """Download the packages that are missing, and unpack them."""
    if shutil.which("apt-get") is None:
        sys.exit("There is no Chromium and no apt-get to get one; install Chromium, or set CHROMIUM to its path.")
    command = ["apt-get", "install", "--simulate", "--no-install-recommends", *PACKAGES]
    planned = subprocess.run(command, capture_output=True, text=True, check=False)
    names = re.findall(r"^Inst (\S+)", planned.stdout, re.MULTILINE)
    if planned.returncode or not names:
        sys.exit(f"apt-get does not know how to get Chromium ({planned.stderr.strip()}); try apt-get update first.")
    with tempfile.TemporaryDirectory(dir=TARGET) as scratch:
        # In a process of the user's own: apt's sandbox could not write here.
        subprocess.run(["apt-get", "-o", "APT::Sandbox::User=", "download", *names], cwd=scratch, check=True)
        complete = Path(scratch, "complete")
        for package in sorted(Path(scratch).glob("*.deb")):
            subprocess.run(["dpkg", "--extract", package, complete], check=True)
        (complete / "fonts.conf").write_text(_FONTS, encoding="utf-8")
        folders = sorted({f"$here/{one.parent.relative_to(complete)}" for one in complete.glob("usr/lib/*/**/*.so*")})
        launcher = complete / "chromium"
        launcher.write_text(_LAUNCHER.format(libraries=":".join(folders)), encoding="utf-8")
        launcher.chmod(0o755)
        complete.rename(FOLDER)


def main() -> None:
    """Get what is missing."""
    TARGET.mkdir(exist_ok=True)
    if not find_chromium():
        unpack_chromium()
    if not is_complete(AXE_ARCHIVE, AXE.parent):
        extract(AXE_ARCHIVE, AXE.parent)


if __name__ == "__main__":
    main()
