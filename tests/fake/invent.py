# SPDX-License-Identifier: MIT
"""Values that nobody measured: from the class of a pair, a kernel's settings, and noise with a seed.

The same seed, settings and number of the sample give the same value, whatever the machine does.
"""

import math
import os
import random

CPU = "/sys/devices/system/cpu/"

# Nanoseconds of a switch round trip, and of a cache line one way, by the nearest shared thing.
ROUND_TRIP = {"self": 4000, "core": 3000, "l1": 3000, "l2": 3200, "cluster": 3400, "l3": 5000,
              "die": 6000, "package": 8000, "numa": 12000, "unpinned": 7000}
ONE_WAY = {"core": 8, "l1": 8, "l2": 20, "cluster": 25, "l3": 40, "die": 80, "package": 100, "numa": 150}


def _read(root, path):
    try:
        with open(root + path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _holds(listed, cpu):
    for part in listed.split(","):
        first, _, last = part.partition("-")
        if first and int(first) <= cpu <= int(last or first):
            return True
    return False


def nearest(root, pair):
    """What two CPUs share, for the values above; not a class's id, which the daemon makes."""
    if not pair:
        return "unpinned"
    a, b = pair
    if a == b:
        return "self"
    topology = f"{CPU}cpu{a}/topology/"
    if _holds(_read(root, topology + "thread_siblings_list"), b):
        return "core"
    shared = []
    caches = f"{CPU}cpu{a}/cache"
    for index in sorted(os.listdir(root + caches)) if os.path.isdir(root + caches) else []:
        if index.startswith("index") and _holds(_read(root, f"{caches}/{index}/shared_cpu_list"), b):
            shared.append(int(_read(root, f"{caches}/{index}/level") or 0))
    if shared:
        return f"l{min(min(shared), 3)}"
    for name, listed in (("cluster", "cluster_cpus_list"), ("die", "die_cpus_list"),
                         ("package", "core_siblings_list")):
        if _holds(_read(root, topology + listed), b):
            return name
    return "numa"


class BadOrder(Exception):
    """What the orders say means nothing: a test that goes on would pass by accident."""


def require(good, what):
    if not good:
        raise BadOrder(what)


def _feature_holds(root, name, value):
    names = (_read(root, "/sys/kernel/debug/sched/features")
             or _read(root, "/sys/kernel/debug/sched_features")).split()
    require(name in names or "NO_" + name in names, f"this kernel has no feature {name}")
    return (name if value == "on" else "NO_" + name) in names


def _idle_holds(root, name, value, pair):
    base = f"{CPU}cpu{pair[1] if pair else 0}/cpuidle/"
    for state in os.listdir(root + base):
        if _read(root, f"{base}{state}/name") == name:
            return _read(root, f"{base}{state}/disable") == ("1" if value == "off" else "0")
    raise BadOrder(f"this kernel has no idle state {name}")


def setting_holds(root, setting, value, pair):
    """Whether the kernel below @root has a setting: "sched_feature/TTWU_QUEUE" on or off,
    "cpuidle/C3" off (on the wakee's CPU), or the text of any file by its path."""
    kind, _, name = setting.partition("/")
    if kind:
        require(kind in ("sched_feature", "cpuidle"), f"{setting}: there is no such kind of setting")
        require(value in ("on", "off"), f"{setting}: '{value}' is neither on nor off")
        return _feature_holds(root, name, value) if kind == "sched_feature" else _idle_holds(
            root, name, value, pair)
    require(os.path.exists(root + setting), f"there is no {setting}")
    return _read(root, setting) == value


# The words that orders are made of, and what each holds.
ORDERS = {"root", "seed", "base", "effects", "noise", "taints", "lies", "wakes"}
NOISE = {"kind", "sd", "ar", "drift", "position", "second-mode"}
TAINTS = {"disturbed", "few-switches"}


def check_orders(config, lies):
    """Refuses what is misspelt; @lies: the names of those that there are."""
    require(set(config) <= ORDERS, f"unknown orders {set(config) - ORDERS}")
    noise = config.get("noise", {})
    require(set(noise) <= NOISE, f"unknown noise {set(noise) - NOISE}")
    require(noise.get("kind", "normal") in ("normal", "t3"), f"unknown kind of noise {noise.get('kind')}")
    places = set(ROUND_TRIP)
    require(set(config.get("base", {})) <= places, "base: unknown place")
    for effect in config.get("effects", []):
        require(set(effect) <= {"when", "factor", "at"} and "when" in effect and "factor" in effect,
                f"an effect has when, factor and at: {effect}")
        require(effect.get("at", "self") in places, f"unknown place {effect.get('at')}")
    for number, kind in config.get("taints", {}).items():
        require(kind in TAINTS and (number == "every" or number.isdigit()), f"unknown taint {number}: {kind}")
    for number, how in config.get("lies", {}).items():
        require(how in lies and number.isdigit(), f"unknown lie {number}: {how}")


class Noise:
    """One factor a sample. @state is kept from sample to sample: what is correlated needs it."""

    def __init__(self, config, seed, number, state):
        self.config, self.state, self.number = config, state, number
        self.random = random.Random(f"{seed}/{number}")

    def _normal(self, sd):
        return self.random.gauss(0, sd)

    def _t3(self, sd):
        # Student's t with 3 degrees of freedom, scaled to the standard deviation @sd (its own is sqrt 3).
        chi2 = sum(self.random.gauss(0, 1) ** 2 for _ in range(3))
        return sd * self.random.gauss(0, 1) / math.sqrt(chi2 / 3) / math.sqrt(3)

    def factor(self):
        c = self.config
        sd = c.get("sd", 0.0)
        log = (self._t3 if c.get("kind") == "t3" else self._normal)(sd) if sd else 0.0
        # AR(1): what is left of the last sample's deviation. The first is drawn from where it settles.
        if c.get("ar"):
            first = log / math.sqrt(1 - c["ar"] ** 2)
            log = log + c["ar"] * self.state["last"] if "last" in self.state else first
            self.state["last"] = log
        log += c.get("drift", 0.0) * self.number
        if c.get("position"):
            log += c["position"][self.number % len(c["position"])]
        factor = math.exp(log)
        # A second mode: with this share of the samples, so many times as much.
        if c.get("second-mode"):
            share, times = c["second-mode"]
            factor *= times if self.random.random() < share else 1
        return factor


def value(config, benchmark, request, number, state):
    """The headline value of a sample in nanoseconds."""
    root = config.get("root", "")
    pair = request["cpus"] or None
    place = nearest(root, pair)
    base = (ONE_WAY if benchmark == "cacheline" else ROUND_TRIP)[place]
    base = config.get("base", {}).get(place, base)
    for effect in config.get("effects", []):
        if effect.get("at", place) == place and all(
                setting_holds(root, name, wanted, pair) for name, wanted in effect["when"].items()):
            base *= effect["factor"]
    seed = f"{config.get('seed', 0)}/{benchmark}/{place}"
    return base * Noise(config.get("noise", {}), seed, number, state).factor()


def _task(trips, cpu, elapsed, spins):
    return {"iterations": trips, "voluntary": 0 if spins else trips, "involuntary": 0, "user_ns": 1,
            "system_ns": elapsed if spins else elapsed // 2, "run_delay_ns": 0, "cpu_before": cpu,
            "cpu_after": cpu}


def _switch_metrics(elapsed, trips):
    return {"round-trip": elapsed / trips, "switches": 2e9 * trips / elapsed,
            "wake-call": elapsed / trips / 8, "real-switches": 2.0}


def _cacheline_metrics(elapsed, trips):
    mean = elapsed / trips / 2
    return {"one-way": mean, "one-way-mean": mean, "one-way-min": mean * 0.9, "one-way-p99": mean * 1.5}


# By benchmark: its metrics, how many of its headline values make a round trip, and whether it spins.
BENCHMARKS = {"switch": (_switch_metrics, 1, False), "cacheline": (_cacheline_metrics, 2, True)}


def result(request, headline):
    """A result that could be true: all its numbers follow from the headline value."""
    benchmark = request["spec"].split(":")[0]
    metrics, values_a_trip, spins = BENCHMARKS[benchmark]
    trip = headline * values_a_trip
    trips = max(1, int(request["window_ns"] / trip))
    elapsed = round(trips * trip)
    cpus = request["cpus"] or [0, 0]
    return {
        "benchmark": benchmark, "version": 1, "hash": request["hash"],
        "metrics": metrics(elapsed, trips), "unavailable": {}, "elapsed_ns": elapsed,
        "round_trips": trips, "memory_node": None,
        "tasks": [_task(trips, cpu, elapsed, spins) for cpu in cpus],
    }


def taint(kind, made):
    """Makes a result look as if its sample was disturbed, on one CPU or two."""
    if kind == "disturbed":
        for task in made["tasks"]:
            task["system_ns"] //= 2
            task["involuntary"] = 1 + task["iterations"] // 20
            task["run_delay_ns"] = made["elapsed_ns"] // 4
    elif kind == "few-switches":
        require(made["tasks"][-1]["voluntary"] > 0, f"{made['benchmark']} has no switches to be few")
        made["tasks"][-1]["voluntary"] //= 2
