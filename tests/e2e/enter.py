"""Become one container of a pod: the first process in namespaces of its own, which then becomes the command.

Reads    the name of a file with {"hostname", "users", "fresh", "shown", "files", "links", "mounts", "owner", "primary",
         "group", "workdir", "env", "command"}, as `cluster.py` writes it.
Returns  nothing: it exits like the command. The machine's files stay unchanged: the process has a new root in memory,
         with a copy of /etc, the empty folders of `fresh`, and the machine's other folders bound read-only.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

OWN = ("dev", "etc", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "var")
"""Folders of the new root that are not bound from the machine."""

PR_SET_PDEATHSIG = 1
"""From linux/prctl.h."""


def enter(pod: dict[str, Any], root: Path) -> None:
    """Create the pod's root at `root`, and change to it."""
    _mount("--make-rprivate", "/")
    socket.sethostname(pod["hostname"])
    root.mkdir()
    _mount("-t", "tmpfs", "-o", "mode=755", "pod", str(root))
    for entry in sorted(Path("/").iterdir()):
        _machine(entry, root / entry.name)
    _etc(pod, root / "etc")
    for name in ("proc", "sys", "dev"):
        (root / name).mkdir()
    _mount("-t", "proc", "proc", str(root / "proc"))
    _mount("--rbind", "/sys", str(root / "sys"))
    _mount("--rbind", "/dev", str(root / "dev"))
    for folder in pod["fresh"]:
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    for path in pod["shown"]:
        _bind(path, root / path.lstrip("/"))
    for path, text in pod["files"].items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name, target in pod["links"].items():
        link = root / name.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    if pod["owner"]:
        _give(root / pod["env"]["HOME"].lstrip("/"), pod["owner"])
    for mount in pod["mounts"]:
        _bind(mount["source"], root / mount["path"].lstrip("/"))
    os.chroot(root)
    os.chdir(pod["workdir"])


def _machine(entry: Path, seen: Path) -> None:
    """Bind an entry of the machine's root in the pod's root."""
    if entry.name in OWN:
        return
    if entry.is_symlink():
        seen.symlink_to(entry.readlink())
    elif entry.is_dir():
        seen.mkdir()
        _mount("--rbind", str(entry), str(seen))
        _mount("-o", "remount,bind,ro", str(seen))


def _etc(pod: dict[str, Any], etc: Path) -> None:
    shutil.copytree("/etc", etc, symlinks=True)
    # The image's users come first, so that ssh finds them instead of the machine's users with the same ids.
    passwd = etc / "passwd"
    passwd.write_text("".join(f"{line}\n" for line in pod["users"]) + passwd.read_text())
    (etc / "hostname").write_text(pod["hostname"] + "\n")


def _give(folder: Path, owner: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, owner, follow_symlinks=False)


def _bind(source: str, target: Path) -> None:
    if Path(source).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount("--bind", source, str(target))


def _mount(*args: str) -> None:
    subprocess.run(["mount", *args], check=True)


def main() -> None:
    """Run the first process of the pod."""
    file = Path(sys.argv[1])
    pod = json.loads(file.read_text())
    enter(pod, file.with_suffix(".root"))
    if pod["owner"]:
        os.setgroups([pod["group"]] if pod["group"] else [])
        os.setgid(pod["primary"])
        os.setuid(pod["owner"])
    # `unshare --kill-child` sets this too, but a change of user clears it.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.clear()
    os.environ.update(pod["env"])
    os.execvp(pod["command"][0], pod["command"])


if __name__ == "__main__":
    main()
