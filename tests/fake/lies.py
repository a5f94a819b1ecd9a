# SPDX-License-Identifier: MIT
"""All that a worker can do wrong, by name: "WHAT-WHERE" at the places start, window and end, and what
is untrue in a result."""

import os
import signal
import sys
import time

from wire import FAILED, READY, RESULT


def hang():
    while True:
        time.sleep(1000)


def _then_hang(action):
    def act(wire, where):
        action(wire, where)
        hang()
    return act


def _out_of_order(wire, where):
    if where == "end":
        wire.say(READY)
    else:
        wire.say(RESULT, b"{}")


def _failed(wire, where):
    wire.say(FAILED, b"the sentence of " + where.encode())
    sys.exit(1)


DEEDS = {
    "exit": lambda wire, where: sys.exit(3),
    "exit0": lambda wire, where: sys.exit(0),
    "kill": lambda wire, where: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda wire, where: os.kill(os.getpid(), signal.SIGSTOP),
    "hang": lambda wire, where: hang(),
    "close": _then_hang(lambda wire, where: wire.socket.close()),
    "failed": _failed,
    "order": _then_hang(_out_of_order),
    "magic": _then_hang(lambda wire, where: wire.say(READY, magic=1)),
    "version": _then_hang(lambda wire, where: wire.say(READY, version=9)),
    "type": _then_hang(lambda wire, where: wire.say(200)),
    "size": _then_hang(lambda wire, where: wire.say(READY, b"abc", size=70000)),
    "huge": _then_hang(lambda wire, where: wire.say(READY, b"x" * 100000)),
    "short": _then_hang(lambda wire, where: wire.socket.send(b"abc")),
    "ignore-term": _then_hang(lambda wire, where: signal.signal(signal.SIGTERM, signal.SIG_IGN)),
}


def misbehave(how, wire, where):
    deed, _, place = how.rpartition("-")
    if place == where and deed in DEEDS:
        DEEDS[deed](wire, where)


# Of each benchmark a metric that the daemon checks against the counts, and one that it cannot.
CHECKED = {"switch": "round-trip", "cacheline": "one-way-mean"}
FREE = {"switch": "wake-call", "cacheline": "one-way-min"}


def _metric(names, change):
    def bend(result, request):
        name = names[request["spec"].split(":")[0]]
        result["metrics"][name] = change(result["metrics"][name])
    return bend


def _without_metric(result, request):
    del result["metrics"][CHECKED[request["spec"].split(":")[0]]]


def _metric_twice(result, request):
    result["unavailable"][FREE[request["spec"].split(":")[0]]] = "both"


def _field(name, value):
    def bend(result, request):
        result[name] = value(result, request)
    return bend


def _window_short(result, request):
    del request
    result["elapsed_ns"] //= 10
    for name, value in result["metrics"].items():
        result["metrics"][name] = value * 10 if name.endswith("switches") else value / 10


BENT = {
    "metric-missing": _without_metric,
    "metric-extra": lambda result, request: result["metrics"].update(bogus=1.0),
    "metric-negative": _metric(FREE, lambda v: -1.0),
    "metric-text": _metric(FREE, lambda v: "fast"),
    "metric-twice": _metric_twice,
    "metric-contradicts": _metric(CHECKED, lambda v: v * 2),
    "counts-differ": lambda result, request: result["tasks"][1].update(
        iterations=result["tasks"][1]["iterations"] + 100),
    "no-trips": _field("round_trips", lambda result, request: 0),
    "other-cpu": lambda result, request: result["tasks"][1].update(cpu_after=777),
    "other-benchmark": _field("benchmark", lambda result, request:
                              "switch" if result["benchmark"] == "cacheline" else "cacheline"),
    "other-hash": _field("hash", lambda result, request: "0" * 16),
    "other-version": _field("version", lambda result, request: 99),
    "no-tasks": _field("tasks", lambda result, request: []),
    "many-tasks": _field("tasks", lambda result, request: result["tasks"] * 50),
    "task-incomplete": lambda result, request: result["tasks"][0].pop("voluntary"),
    "window-long": _field("elapsed_ns", lambda result, request: request["window_ns"] * 1000),
    "window-short": _window_short,
    "incomplete": lambda result, request: result.pop("elapsed_ns"),
}

# All that there are, by name.
NAMES = ({f"{deed}-{where}" for deed in DEEDS for where in ("start", "window", "end", "after")} | set(BENT)
         | {"honest", "child-left", "result-twice", "done-early", "tainted", "tainted-too",
            "not-json", "deep-json", "nul"})

RAW = {"not-json": b"this is no JSON", "deep-json": b"[" * 60000, "nul": b"{}\0{}"}


def say_result(how, wire, result, request):
    """The result, untrue as @how says, and what may follow it."""
    if how in BENT:
        BENT[how](result, request)
    if how == "child-left" and os.fork() == 0:
        hang()
    wire.say(RESULT, RAW.get(how, result))
    if how == "result-twice":
        wire.say(RESULT, result)
    misbehave(how, wire, "after")
