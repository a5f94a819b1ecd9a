# SPDX-License-Identifier: MIT
"""Cross-building for the guests of other architectures: Debian's compilers, and a sysroot of unpacked
-dev packages, kept in the cache beside the images."""

import hashlib
import os
import shutil
import subprocess
import time

from guests import TRIPLET
from images import Unbuildable, cache

DEV = ["libarchive-dev", "libc6-dev", "libhwloc-dev", "libiniparser-dev", "libjansson-dev", "libnuma-dev",
       "libsmartcols-dev", "libsystemd-dev", "libxxhash-dev"]
PROCESSOR = {"arm64": "aarch64", "ppc64el": "ppc64le"}


def relink(root):
    """Absolute links lead out of a sysroot: they are made relative."""
    for place, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(place, name)
            if os.path.islink(path) and os.readlink(path).startswith("/"):
                target = os.path.relpath(root + os.readlink(path), place)
                os.unlink(path)
                os.symlink(target, path)


def sysroot(arch):
    week = time.strftime("%G-%V")
    name = hashlib.sha256(" ".join([arch, week, *DEV]).encode()).hexdigest()[:16]
    path = os.path.join(cache(), f"{arch}-sysroot-{name}")
    if os.path.isdir(path):
        os.utime(path)
        return path
    os.makedirs(cache(), exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    mirror = os.environ.get("SCHEDLAB_MIRROR")
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--format=directory",
         f"--architectures={arch}", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
         "--aptopt=APT::Install-Recommends \"false\"", "--include=" + ",".join(DEV), "bookworm",
         unfinished, *([mirror] if mirror else [])], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise Unbuildable(f"the sysroot cannot be built:\n{done.stderr[-2000:]}")
    relink(unfinished)
    os.utime(unfinished)
    os.rename(unfinished, path)
    return path


def toolchain(arch, place):
    """What CMake must be told to build for @arch; it stands in a file in @place."""
    root, triplet = sysroot(arch), TRIPLET[arch]
    path = os.path.join(place, "toolchain.cmake")
    text = f"""set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR {PROCESSOR[arch]})
set(CMAKE_SYSROOT {root})
set(CMAKE_C_COMPILER {triplet}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE {triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{{PKG_CONFIG_DIR}} "")
set(ENV{{PKG_CONFIG_LIBDIR}} {root}/usr/lib/{triplet}/pkgconfig:{root}/usr/share/pkgconfig)
set(ENV{{PKG_CONFIG_SYSROOT_DIR}} {root})
"""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return [f"-DCMAKE_TOOLCHAIN_FILE={path}"]
    # CMake keeps what it found with another.
    shutil.rmtree(place)
    os.makedirs(place)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return [f"-DCMAKE_TOOLCHAIN_FILE={path}"]
