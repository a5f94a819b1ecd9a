#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Our `switch` beside `perf bench sched pipe`, both pinned to one CPU, in interleaved pairs, as TAP.

The machine's speed drifts, so only the ratio within a pair counts; which of the two comes first in a
pair is random. Asserted: the median ratio lies within 0.9 to 1.1, and a round trip of ours is two
context switches within 0.1 %, by getrusage.

    switch-against-perf.py [PAIRS]      PAIRS: at least 12 (default 16), for threads and for processes
"""

import json
import os
import random
import statistics
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKER = os.path.join(os.environ.get("SCHEDLAB_BIN", os.path.join(TOP, "build/release/bin")),
                      "schedlab-worker")
CPU = str(min(os.sched_getaffinity(0)))
SECONDS = 0.4  # of each measurement


def perf(threads, loops):
    """ns a round trip. perf before 6.15 has one token, as ours."""
    command = ["taskset", "-c", CPU, "perf", "bench", "-f", "simple", "sched", "pipe", "-l", str(loops)]
    out = subprocess.run(command + (["-T"] if threads else []), capture_output=True, text=True,
                         check=True).stdout
    return float(out.split()[-1]) / loops * 1e9


def ours(threads):
    """ns a round trip, and context switches a round trip."""
    spec = "switch:mode=pipe,as=" + ("thread" if threads else "process")
    out = subprocess.run([WORKER, "--cpus", f"{CPU},{CPU}", "--duration", f"{int(SECONDS * 1000)}ms",
                          spec], capture_output=True, text=True, check=True).stdout
    metrics = json.loads(out)["metrics"]
    return metrics["round-trip"], metrics["real-switches"]


def strict_perf():
    """perf from 6.15 on keeps two tokens under way and halves the switches."""
    out = subprocess.run(["perf", "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = out.split()[2].split(".")[:2]
    return (int(major), int(minor)) < (6, 15)


def main():
    pairs = max(12, int(sys.argv[1])) if len(sys.argv) > 1 else 16
    tests = []
    if not strict_perf():
        print("ok 1 - # SKIP this perf bench sched pipe has two tokens, which is another benchmark")
        print("1..1")
        return 0
    for threads in (True, False):
        what = "threads (-T)" if threads else "processes"
        loops = max(1000, int(SECONDS * 1e9 / perf(threads, 20000)))
        ratios, switches, ns = [], [], []
        for _ in range(pairs):
            if random.random() < 0.5:
                theirs, (mine, real) = perf(threads, loops), ours(threads)
            else:
                (mine, real), theirs = ours(threads), perf(threads, loops)
            ratios.append(mine / theirs)
            switches.append(real)
            ns.append((mine, theirs))
        ratio, real = statistics.median(ratios), statistics.median(switches)
        low, _, high = statistics.quantiles(ratios, n=4)
        print(f"# {what}: ours {statistics.median(m for m, _ in ns):.0f} ns, perf "
              f"{statistics.median(t for _, t in ns):.0f} ns a round trip; {pairs} pairs, ratio "
              f"median {ratio:.3f}, quartiles {low:.3f} to {high:.3f}, "
              f"min {min(ratios):.3f}, max {max(ratios):.3f}; {real:.5f} switches a round trip")
        tests.append((0.9 <= ratio <= 1.1, f"{what}: median of {pairs} paired ratios within 0.9 to 1.1"))
        tests.append((abs(real - 2) <= 0.002, f"{what}: two switches a round trip within 0.1 %"))
    for number, (good, name) in enumerate(tests, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
    print(f"1..{len(tests)}")
    return 0 if all(good for good, _ in tests) else 1


sys.exit(main())
