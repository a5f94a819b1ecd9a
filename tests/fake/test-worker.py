#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The fake worker: what it invents is what its orders say, and our programs see just that."""

import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../tools"), HERE]
import invent
from fakekernel import FakeKernel
from tap import Directory, contains, ctl, equal, run, test

TTWU = {"when": {"sched_feature/TTWU_QUEUE": "off"}, "factor": 1.25, "at": "l3"}


def worker(d, **config):
    path = os.path.join(d.path, "worker")
    if not os.path.islink(path):
        os.symlink(os.path.join(HERE, "worker"), path)
    d.file("worker.json", json.dumps(config))
    return path


def measure(root, path, *args, status=0):
    return ctl("--root", root, "--worker", path, "measure", *args, "--duration", "1ms", "--json=short",
               status=status).json()


def medians(done, metric):
    return {r["class"]: r["metrics"][metric]["median"] for r in done["rows"]}


def near(got, expected, tolerance, what=""):
    equal(abs(got - expected) <= tolerance, True, f"{what}: {got} is not within {tolerance} of {expected}")


@test
def a_machine_of_eight_is_measured_here():
    with FakeKernel("guest") as kernel, Directory() as d:
        path = worker(d, root=kernel.root)
        done = measure(kernel.root, path, "switch", "--rounds", "2", "--pairs-per-class", "1")
        equal(medians(done, "round-trip"), {"self": 4000.0, "core": 3000.0, "l3": 5000.0,
                                            "numa-21": 12000.0, "unpinned": 7000.0})
        equal(done["counts"], {"samples": 10, "failed": 0, "tainted": 0})
        done = measure(kernel.root, path, "cacheline", "--rounds", "1", "--pairs-per-class", "1")
        for name, value in (("core", 8), ("l3", 40), ("numa-21", 150)):
            near(medians(done, "one-way")[name], value, value * 1e-3, name)


@test
def what_the_kernel_is_set_to_shows():
    with FakeKernel("guest") as kernel, Directory() as d:
        slow = {"when": {"cpuidle/C3": "off"}, "factor": 0.5, "at": "numa"}
        knob = {"when": {"/sys/kernel/debug/sched/migration_cost_ns": "0"}, "factor": 3.0, "at": "core"}
        path = worker(d, root=kernel.root, effects=[TTWU, slow, knob])

        def now():
            return medians(measure(kernel.root, path, "switch", "--rounds", "1", "--class",
                                   "core,l3,numa-21", "--pairs-per-class", "1"), "round-trip")

        equal(now(), {"core": 3000.0, "l3": 5000.0, "numa-21": 12000.0})
        kernel.control("set /sys/kernel/debug/sched/features NO_TTWU_QUEUE")
        equal(now()["l3"], 6250.0)
        kernel.control("set /sys/kernel/debug/sched/migration_cost_ns 0")
        equal(now()["core"], 9000.0)
        for cpu in range(8):
            kernel.control(f"set /sys/devices/system/cpu/cpu{cpu}/cpuidle/state3/disable 1")
        equal(now()["numa-21"], 6000.0)


@test
def its_tasks_wake_the_fake_cpus():
    with FakeKernel("guest") as kernel, Directory() as d:
        usage = "/sys/devices/system/cpu/cpu{}/cpuidle/state{}/usage"

        def used(cpu):
            return sum(int(kernel.read(usage.format(cpu, i))) for i in range(4))

        path = worker(d, root=kernel.root, wakes=True)
        before = [used(cpu) for cpu in range(8)]
        measure(kernel.root, path, "switch", "--pair", "2-5", "--rounds", "1")
        trips = int(1e6 / 12000)
        equal([used(cpu) - before[cpu] for cpu in range(8)], [0, 0, trips, 0, 0, trips, 0, 0])


@test
def taints_and_lies_by_number():
    with FakeKernel("guest") as kernel, Directory() as d:
        path = worker(d, root=kernel.root, taints={"1": "disturbed", "2": "few-switches"},
                      lies={"3": "exit-window", "4": "counts-differ"})
        done = measure(kernel.root, path, "switch", "--pair", "0-0", "--rounds", "6")
        equal(done["counts"], {"samples": 4, "failed": 2, "tainted": 2})
        equal(done["rows"][0]["taints"], {"disturbed": 1, "few-switches": 1})
        equal([f["round"] for f in done["failures"]], [3, 4])
        contains(done["failures"][0]["why"], "the worker ended with status 3")
        contains(done["failures"][1]["why"], "of which its tasks counted")


@test
def every_place_can_be_disturbed():
    with FakeKernel("guest") as kernel, Directory() as d:
        path = worker(d, root=kernel.root, taints={"every": "disturbed"})
        for args in (("switch",), ("cacheline",)):
            done = measure(kernel.root, path, *args, "--rounds", "1", "--pairs-per-class", "1")
            for row in done["rows"]:
                equal(row["taints"].get("disturbed"), 1, row["class"])


@test
def every_benchmark_can_be_lied_about():
    with FakeKernel("guest") as kernel, Directory() as d:
        lies = ["metric-missing", "metric-negative", "metric-text", "metric-twice", "metric-contradicts",
                "counts-differ", "window-short", "other-benchmark", "no-trips"]
        for benchmark in ("switch", "cacheline"):
            # Between true ones: a job ends where all that it tries fails.
            path = worker(d, root=kernel.root, lies={str(2 * i + 1): how for i, how in enumerate(lies)})
            if os.path.exists(path + ".state"):
                os.unlink(path + ".state")
            done = measure(kernel.root, path, benchmark, "--pair", "0-2", "--rounds", str(2 * len(lies)))
            equal(done["counts"], {"samples": len(lies), "failed": len(lies), "tainted": 0})
            for failure, how in zip(done["failures"], lies):
                equal("fake worker cannot" in failure["why"] or "ended with status" in failure["why"],
                      False, f"{how}: {failure['why']}")


@test
def orders_that_mean_nothing_are_refused():
    with FakeKernel("guest") as kernel, Directory() as d:
        for says, orders in (
                ("unknown orders", {"efects": []}), ("unknown kind of noise", {"noise": {"kind": "t33"}}),
                ("unknown noise", {"noise": {"sdd": 1}}), ("unknown taint", {"taints": {"0": "bogus"}}),
                ("unknown lie", {"lies": {"0": "typo-window"}}),
                ("no feature TTWU_QUEU", {"effects": [{"when": {"sched_feature/TTWU_QUEU": "on"}, "factor": 2}]}),
                ("neither on nor off", {"effects": [{"when": {"cpuidle/C3": "ON"}, "factor": 2}]}),
                ("no idle state C9", {"effects": [{"when": {"cpuidle/C9": "off"}, "factor": 2}]}),
                ("there is no /sys/nothing", {"effects": [{"when": {"/sys/nothing": "1"}, "factor": 2}]}),
                ("unknown place", {"effects": [{"when": {}, "factor": 2, "at": "moon"}]}),
                ("has no switches to be few", {"taints": {"every": "few-switches"}})):
            path = worker(d, root=kernel.root, **orders)
            done = measure(kernel.root, path, "cacheline", "--pair", "0-2", "--rounds", "1", status=1)
            contains(done["failures"][0]["why"], says)


@test
def one_seed_one_result():
    with FakeKernel("guest") as kernel, Directory() as d:
        def values(seed):
            path = worker(d, root=kernel.root, seed=seed, noise={"sd": 0.02})
            state = path + ".state"
            if os.path.exists(state):
                os.unlink(state)
            done = measure(kernel.root, path, "switch", "--pair", "0-2", "--rounds", "5")
            return done["rows"][0]["metrics"]["round-trip"]["values"]

        first = values(1)
        equal(values(1), first)
        equal(len(set(first)), 5)
        equal(values(2) == first, False)


def logs(n=4000, **noise):
    """ln of the factors of so many samples: fixed by the seed, so that bounds hold or do not."""
    state = {}
    return [math.log(invent.Noise(noise, "seed", i, state).factor()) for i in range(n)]


@test
def noise_is_as_ordered():
    equal(set(logs(10)), {0.0})
    normal = logs(sd=0.02)
    near(statistics.mean(normal), 0, 0.001)
    near(statistics.stdev(normal), 0.02, 0.001)
    beyond = sum(abs(x) > 0.08 for x in normal)
    equal(beyond <= 3, True, f"{beyond} of 4000 beyond 4 sd")
    t3 = logs(sd=0.02, kind="t3")
    near(statistics.stdev(t3), 0.02, 0.005)
    equal(sum(abs(x) > 0.08 for x in t3) > 10, True, "t3 has tails")
    ar = logs(sd=0.02, ar=0.9)
    near(sum(a * b for a, b in zip(ar, ar[1:])) / sum(a * a for a in ar), 0.9, 0.03)
    near(statistics.stdev(ar), 0.02 / math.sqrt(1 - 0.81), 0.006)
    # From the first sample on.
    firsts = [math.log(invent.Noise({"sd": 0.02, "ar": 0.9}, i, 0, {}).factor()) for i in range(2000)]
    near(statistics.stdev(firsts), 0.02 / math.sqrt(1 - 0.81), 0.003)
    drift = logs(1000, drift=0.001)
    near(drift[999] - drift[0], 0.999, 1e-9)
    near(logs(10, position=[0, 0.05])[1], 0.05, 1e-9)
    equal(logs(10, position=[0, 0.05])[0::2], [0.0] * 5)
    modes = logs(**{"second-mode": [0.1, 8]})
    near(sum(x > 1 for x in modes) / 4000, 0.1, 0.02)
    near(max(modes), math.log(8), 1e-9)


@test
def a_machine_of_four_thousand_is_measured_here():
    with Directory() as d:
        root = d.machine("huge")
        done = measure(root, worker(d, root=root), "switch", "--rounds", "1", "--pairs-per-class", "2")
        equal({(r["class"], r["n_pairs"]) for r in done["rows"]},
              {("self", 4096), ("core", 2048), ("l3", 256 * 16 * 14 // 2), ("package", 16 * 240 * 256 // 2),
               ("numa-20", 16 * 3 * 256 * 256 // 2), ("numa-30", 16 * 12 * 256 * 256 // 2), ("unpinned", 0)})
        equal(done["counts"]["failed"], 0)
        equal(medians(done, "round-trip")["l3"], 5000.0)


run()
