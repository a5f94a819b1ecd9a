#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The time to a verdict on this machine, against today's way, as TAP: five runs of 5 s an arm, one arm after
the other, means compared by a t test.

A against A is `switch` on one CPU twice; A against B its modes pipe and futex. Blocks are samples of 200 ms
in random order. What the machine gives is printed; asserted is only what no machine can change: that blocks
of one and the same do not reach e >= 1000 (a chance of 1 in 1000), and that a real difference is found.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("SCHEDLAB_BIN", os.path.join(TOP, "build/release/bin"))
STATS = os.path.join(BIN, "../bench/verdict-time")
CPU = str(min(os.sched_getaffinity(0)))
BLOCKS = 60


def measure(state, specs, rounds, duration):
    """Values of the round trip of each spec, in the order of the rounds."""
    done = subprocess.run([os.path.join(BIN, "schedlabctl"), "--standalone", "--state-dir", state, "measure",
                           *specs, "--pair", f"{CPU}-{CPU}", "--rounds", str(rounds), "--duration", duration,
                           "--json=short"], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["rows"]
    return [row["metrics"]["round-trip"]["values"] for row in rows]


def ask(how, values):
    done = subprocess.run([STATS, how], input="\n".join(map(repr, values)), capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def show(what, blocks, means):
    needed = f"decided after {blocks['decided']} blocks" if blocks["decided"] else "undecided"
    said = {0: "no difference", 1: "B is dearer", -1: "B is cheaper"}[means["says"]]
    print(f"# {what}: {needed} (about {(blocks['decided'] or BLOCKS) * 0.54:.0f} s), ratio "
          f"{math.exp(blocks['point']):.4f} ({math.exp(blocks['low']):.4f} to {math.exp(blocks['high']):.4f});"
          f" today's way after 52 s: {said}")


def main():
    pipe, futex = "switch:mode=pipe", "switch:mode=futex"
    with tempfile.TemporaryDirectory() as state:
        [same] = measure(state, [pipe], 2 * BLOCKS, "200ms")
        chance = random.Random(1)
        pairs = [(a, b) if chance.random() < 0.5 else (b, a) for a, b in zip(same[::2], same[1::2])]
        alike = ask("blocks", [math.log(b / a) for a, b in pairs])
        one, other = measure(state, [pipe, futex], BLOCKS, "200ms")
        apart = ask("blocks", [math.log(b / a) for a, b in zip(one, other)])
        runs = [measure(state, [spec], 5, "5s")[0] for spec in (pipe, pipe, futex)]
    show("A against A", alike, ask("means", [math.log(v) for v in runs[0] + runs[1]]))
    show("pipe against futex", apart, ask("means", [math.log(v) for v in runs[0] + runs[2]]))
    print(("ok" if alike["ln_e"] < math.log(1000) else "not ok") + " 1 - A against A is not told apart")
    print(("ok" if apart["decided"] else "not ok") + " 2 - pipe against futex is")
    print("1..2")
    sys.exit(alike["ln_e"] >= math.log(1000) or not apart["decided"])


if __name__ == "__main__":
    main()
