#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cmake --install: all files, in their places, and well-formed; installed programs find each other."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from tap import BIN, PATIENCE, Directory, contains, equal, run, test

BUILD = os.path.dirname(BIN)
FILES = """
usr/bin/schedlabctl
usr/sbin/schedlabd
usr/libexec/schedlab/schedlab-worker
usr/lib/systemd/system/schedlabd.service
usr/lib/sysusers.d/schedlab.conf
usr/share/dbus-1/system-services/org.schedlab.SchedLab1.service
usr/share/dbus-1/system.d/org.schedlab.SchedLab1.conf
usr/share/dbus-1/interfaces/org.schedlab.SchedLab1.xml
etc/schedlab/schedlabd.conf
usr/share/doc/schedlab/README.md
usr/share/doc/schedlab/NEWS.md
usr/share/doc/schedlab/LICENSE
""".split()


SOURCE = os.path.dirname(os.path.dirname(BUILD))


class Build(Directory):
    """A build of its own, as a packager or an administrator makes one."""

    def install(self, prefix, destdir=""):
        build = os.path.join(self.path, "build")
        for command in (["cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, "-DBUILD_TESTING=OFF",
                         "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_INSTALL_PREFIX={prefix}"],
                        ["cmake", "--build", build], ["cmake", "--install", build]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, DESTDIR=destdir))
        self.root = destdir or prefix

    def text(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()


@test
def everything_is_in_its_place():
    with Build() as d:
        d.install("/usr", os.path.join(d.path, "root"))
        found = sorted(os.path.relpath(os.path.join(place, name), d.root)
                       for place, _, names in os.walk(d.root) for name in names)
        equal(found, sorted(FILES))
        ElementTree.fromstring(d.text("usr/share/dbus-1/system.d/org.schedlab.SchedLab1.conf"))
        contains(d.text("usr/lib/systemd/system/schedlabd.service"), "ExecStart=/usr/sbin/schedlabd")
        contains(d.text("usr/lib/systemd/system/schedlabd.service"),
                 "Documentation=file:/usr/share/doc/schedlab/README.md")
        contains(d.text("usr/share/dbus-1/system-services/org.schedlab.SchedLab1.service"),
                 "SystemdService=dbus-org.schedlab.SchedLab1.service")
        sysusers(d)
        analyze(d)
        # Once more below a prefix, where the programs must find each other.
        d.install(os.path.join(d.path, "opt"))
        done = subprocess.run(
            [os.path.join(d.root, "bin/schedlabctl"), "--standalone", "measure", "switch", "--class",
             "self", "--rounds", "1", "--duration", "5ms", "--json=short"],
            capture_output=True, text=True, timeout=PATIENCE)
        equal(done.returncode, 0, done.stderr)
        contains(done.stdout, '"failed":0')


@test
def setup_says_what_is_missing():
    setup = os.path.join(SOURCE, "tests/setup")
    done = subprocess.run([setup, "tset"], capture_output=True, text=True)
    equal(done.returncode, 2)
    contains(done.stderr, "unknown word 'tset'; say 'build' (the default), 'test' or 'long'")
    with Directory() as d:
        with open(setup, encoding="utf-8") as script:
            copy = d.file("setup", script.read(), 0o755)
        d.file("packages", "build no-such-package-here\ntest dpkg\n")
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        done = subprocess.run([*(as_nobody if os.getuid() == 0 else []), copy], capture_output=True,
                              text=True)
        equal(done.returncode, 1)
        contains(done.stderr, "only root can install packages, and these are missing: "
                              "no-such-package-here")
        # Silent when nothing is missing.
        d.file("packages", "build dpkg\n")
        done = subprocess.run([copy, "test"], capture_output=True, text=True)
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""))


def sysusers(d):
    os.makedirs(os.path.join(d.root, "etc"), exist_ok=True)
    subprocess.run(["systemd-sysusers", f"--root={d.root}",
                    os.path.join(d.root, "usr/lib/sysusers.d/schedlab.conf")], check=True,
                   stderr=subprocess.DEVNULL)
    contains(d.text("etc/passwd"), "schedlab:x:")


def analyze(d):
    """The unit is understood, and as closed as it claims."""
    unit = os.path.join(d.root, "usr/lib/systemd/system/schedlabd.service")
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=25", unit],
                          capture_output=True, text=True)
    equal(done.returncode, 0, done.stdout + done.stderr)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True,
                          text=True)
    for line in done.stderr.splitlines():
        # The program is not where the unit says, since this is no installation.
        if "schedlabd.service" in line and "is not executable" not in line:
            raise AssertionError(line)


run()
