# SPDX-License-Identifier: MIT
"""A mounted fake kernel for one test (see tests/fake/kernel/)."""

import os
import subprocess

from tap import BIN, PATIENCE, Directory, Skip, wait_for

PROGRAM = os.path.join(os.path.dirname(BIN), "fake/fake-kernel")
NOBODY = 65534


class FakeKernel:
    """with FakeKernel("guest", "--kernel", "6.12") as kernel: its files are below kernel.root."""

    def __init__(self, machine, *options, owner=NOBODY):
        self.machine, self.options, self.owner = machine, options, owner

    def __enter__(self):
        if os.getuid() != 0:
            raise Skip("only root can mount a file system for others")
        self.directory = Directory().__enter__()
        self.root = os.path.join(self.directory.path, "kernel")
        os.mkdir(self.root)
        if not os.path.exists("/dev/fuse"):
            os.mknod("/dev/fuse", 0o20666, os.makedev(10, 229))
        tree = self.directory.machine(self.machine)
        self.process = subprocess.Popen([PROGRAM, "--owner", str(self.owner), *self.options, tree,
                                         self.root], stderr=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists(self.root + "/.control") or self.process.poll() is not None,
                 "the fake kernel")
        if self.process.poll() is not None:
            raise AssertionError("the fake kernel ended: " + self.process.stderr.read())
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        subprocess.run(["umount", "--lazy", self.root], stderr=subprocess.DEVNULL, check=False)
        self.directory.__exit__()

    def path(self, path):
        return self.root + path

    def read(self, path):
        with open(self.root + path, encoding="utf-8") as file:
            return file.read()

    def control(self, line):
        with open(self.root + "/.control", "w", encoding="utf-8") as file:
            file.write(line + "\n")

    def writes(self):
        """What was written and taken, in order: [(path, value)]."""
        return [tuple(line.split(" ", 4)[3:]) for line in self.read("/.control").splitlines()]


def as_nobody(*command, **more):
    """Runs a command without privilege, as the owner of the fake kernel's files."""
    return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                           *command], capture_output=True, text=True, timeout=PATIENCE, cwd="/",
                          check=False, **more)
