# SPDX-License-Identifier: MIT
"""For scenarios in Python."""

import json
import subprocess

with open("/mnt/host/guest", encoding="utf-8") as _file:
    GUEST = _file.read().strip()


def equal(got, expected, what=""):
    assert got == expected, f"{what}\n  expected {expected!r}\n  got      {got!r}"


def contains(text, part):
    assert part in text, f"{part!r} is not in:\n{text}"


def ctl(*args):
    """What schedlabctl prints; its failure is the scenario's."""
    done = subprocess.run(["schedlabctl", *args], capture_output=True, text=True, check=False)
    print("$ schedlabctl", *args)
    print(done.stdout + done.stderr)
    assert done.returncode == 0, f"status {done.returncode}"
    return done.stdout


def ctl_json(*args):
    return json.loads(ctl(*args, "--json=short"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
