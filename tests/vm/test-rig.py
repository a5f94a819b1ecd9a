#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rig fails where it must: a failing, hanging or warning scenario, a guest that dies or falls silent."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tools"))
from tap import Directory, contains, equal, run, test


def rig(*scenarios):
    """Its status, and what it said of each scenario: {name: (good, the lines above)}."""
    done = subprocess.run([os.path.join(HERE, "run"), "--guest", "noidle", "--scenarios-in",
                           os.path.join(HERE, "broken"), *scenarios],
                          capture_output=True, text=True, check=False)
    said, above = {}, []
    for line in done.stdout.splitlines():
        if line.startswith(("ok ", "not ok ")):
            name = line.split(" - noidle: ", 1)[1].split(" (")[0]
            said[name] = (line.startswith("ok"), "\n".join(above))
            above = []
        else:
            above.append(line)
    return done.returncode, said


@test
def what_fails_hangs_or_warns():
    status, said = rig("crashes", "exits-1", "hangs", "leaves-a-child", "looks-for-it", "passes", "warns")
    equal(status, 1)
    equal({name: good for name, (good, _) in said.items()},
          {"install": True, "crashes": True, "exits-1": False, "hangs": False, "leaves-a-child": True,
           "looks-for-it": True, "passes": True, "warns": True, "no kernel warning": False})
    contains(said["no kernel warning"][1], "SEGV")
    contains(said["exits-1"][1], "said before the end")
    contains(said["hangs"][1], "said before the hang")
    contains(said["hangs"][1], "the scenario did not end within 2 s")
    contains(said["no kernel warning"][1], "at kernel/sched/core.c:1 made up")


@test
def scenarios_that_would_not_run_are_refused():
    for name, text, says in (("Boot~", "", "is named by small letters"),
                             ("install", "", "and not 'install'"),
                             ("typo", "# guests: idel", "there is no guest 'idel'"),
                             ("none", "# guests:", "there is no guest ''"),
                             ("late", "# timeout: ten", "'ten' is no number of seconds")):
        with Directory() as d:
            d.file(name, "#!/bin/sh\n" + text + "\n", 0o755)
            done = subprocess.run([os.path.join(HERE, "run"), "--scenarios-in", d.path],
                                  capture_output=True, text=True, check=False)
            equal(done.returncode, 1, done.stdout)
            contains(done.stderr, says)
    with Directory() as d:
        d.file("plain", "#!/bin/sh\n", 0o644)
        done = subprocess.run([os.path.join(HERE, "run"), "--scenarios-in", d.path],
                              capture_output=True, text=True, check=False)
        contains(done.stderr, "a scenario is an executable file")
    done = subprocess.run([os.path.join(HERE, "run"), "--guest", "noidle", "idle-states"],
                          capture_output=True, text=True, check=False)
    equal(done.returncode, 1)
    contains(done.stderr, "there is nothing to run")


@test
def a_kernel_that_dies():
    status, said = rig("panics", "passes")
    equal(status, 1)
    equal({name: good for name, (good, _) in said.items()},
          {"install": True, "panics": False, "passes": False, "no kernel warning": False})
    contains(said["panics"][1], "the guest did not report: it ended without a report")
    contains(said["panics"][1], "said before the panic")
    contains(said["no kernel warning"][1], "Kernel panic")
    contains(said["passes"][1], "the guest did not report")


@test
def a_machine_that_is_switched_off():
    status, said = rig("silent")
    equal(status, 1)
    equal(said["silent"][0], False)
    contains(said["silent"][1], "it ended without a report")


run()
