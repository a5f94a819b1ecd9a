# SPDX-License-Identifier: MIT
"""The images that guests boot from, built once and kept in the user's cache.

The key of an image is made of the script that builds it and of the versions that this machine's apt
knows of what goes into it, so that a new kernel or systemd makes a new image. Images of other
suites, whose versions apt need not know here, are renewed each week.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "image")
KEEP = 12  # images and sysroots in the cache


class Unbuildable(Exception):
    """What a guest needs cannot be made here; the text says why."""


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "schedlab", "vm")


def versions(script):
    """What apt would install of each package that the script names, as a text."""
    words = sorted(set(re.findall(r"^\t([a-z0-9.+ -]+)$", script, re.MULTILINE)))
    packages = sorted({p for line in words for p in line.split()})
    done = subprocess.run(["apt-cache", "policy", "linux-image-amd64", *packages],
                          capture_output=True, text=True, check=True)
    return "\n".join(re.findall(r"^(?:\S+:|  Candidate: .*)$", done.stdout, re.MULTILINE))


def key(guest):
    with open(SCRIPT, encoding="utf-8") as file:
        script = file.read()
    parts = [script, guest.arch, guest.kernel, guest.suite, versions(script)]
    if guest.suite != "bookworm" or guest.arch != "amd64":
        parts.append(time.strftime("%G-%V"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def forget_old(place):
    images = sorted((os.path.join(place, n) for n in os.listdir(place)), key=os.path.getmtime)
    for path in images[:-KEEP]:
        shutil.rmtree(path, ignore_errors=True)


FILES = ("vmlinuz", "root.cpio")


def _sizes(path):
    return " ".join(str(os.path.getsize(os.path.join(path, name))) for name in FILES)


def write_sizes(path):
    with open(os.path.join(path, "sizes"), "w", encoding="utf-8") as out:
        out.write(_sizes(path))


def is_whole(path):
    """Whether the files are as they were built: a disk may have been full, or somebody cleaned up."""
    try:
        with open(os.path.join(path, "sizes"), encoding="utf-8") as file:
            return file.read() == _sizes(path)
    except OSError:
        return False


def run_group(command, unfinished):
    """(status, what it said). Where we are told to end, all that it started ends too."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True) as process:
        try:
            said, _ = process.communicate()
            return process.returncode, said
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            shutil.rmtree(unfinished, ignore_errors=True)
            raise


def image(guest):
    """The directory with vmlinuz and root.cpio for @guest; built where it is not there yet."""
    place = cache()
    path = os.path.join(place, f"{guest.arch}-{key(guest)}")
    if is_whole(path):
        os.utime(path)
        return path
    os.makedirs(place, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    start = time.monotonic()
    for attempt in range(3):
        status, said = run_group([SCRIPT, guest.arch, guest.kernel, guest.suite, unfinished], unfinished)
        if status == 0 or attempt == 2:
            break
        time.sleep(10)  # a mirror may be in the middle of its own update
    if status != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise Unbuildable("the image cannot be built:\n" + "\n".join(said.splitlines()[-20:]))
    write_sizes(unfinished)
    shutil.rmtree(path, ignore_errors=True)
    os.rename(unfinished, path)
    print(f"# image for {guest.name} built in {time.monotonic() - start:.0f} s", flush=True)
    forget_old(place)
    return path
