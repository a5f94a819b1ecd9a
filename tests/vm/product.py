# SPDX-License-Identifier: MIT
"""The product as a guest gets it: built with the prefix /usr, installed below build/product/ARCH."""

import os
import subprocess

from images import Unbuildable

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_installed = {}


def _run(*command, **more):
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Unbuildable(f"{' '.join(command)} failed:\n"
                          + "\n".join((done.stdout + done.stderr).splitlines()[-20:]))


def install(arch):
    """Builds and installs for @arch, once a run; returns the directory that stands for /."""
    if arch in _installed:
        return _installed[arch]
    build, root = f"build/product/{arch}-build", f"build/product/{arch}"
    options = []
    if arch != "amd64":
        from cross import toolchain
        os.makedirs(os.path.join(TOP, build), exist_ok=True)
        options = toolchain(arch, os.path.join(TOP, build))
    _run("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_INSTALL_PREFIX=/usr", "-DBUILD_TESTING=OFF", *options)
    _run("cmake", "--build", build)
    subprocess.run(["rm", "-rf", os.path.join(TOP, root)], check=True)
    _run("cmake", "--install", build, "--strip", env=dict(os.environ, DESTDIR=os.path.join(TOP, root)))
    _installed[arch] = os.path.join(TOP, root)
    return _installed[arch]
