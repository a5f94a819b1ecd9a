#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every way in which a worker can die, hang or lie is a failed sample with a sentence."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from tap import (BIN, CTL, PATIENCE, TOP, WORKER, Directory, children, contains, ctl, equal, is_alive,
                 run, test, wait_for)

LIAR = os.path.join(TOP, "tests/fake/worker")
MACHINE = "synthetic:package:1 core:4 pu:1"

# The name that the liar is called by, and the sentence for it.
LIES = {
    "exit-start": "the worker ended with status 3",
    "exit-window": "the worker ended with status 3",
    "exit-end": "the worker ended with status 3",
    "exit-after": "the worker ended with status 3",
    "exit0-start": "the worker ended with status 0 and was not READY",
    "exit0-window": "the worker ended with status 0 and was not DONE",
    "exit0-end": "the worker ended with status 0 and sent no RESULT",
    "kill-start": "the worker was killed by signal 9 (Killed)",
    "kill-window": "the worker was killed by signal 9 (Killed)",
    "kill-end": "the worker was killed by signal 9 (Killed)",
    "kill-after": "the worker was killed by signal 9 (Killed)",
    "hang-start": "the worker was not READY within its time and 1 s more",
    "hang-window": "the worker was not DONE within its time and 1 s more",
    "hang-end": "the worker sent no RESULT within its time and 1 s more",
    "hang-after": "the worker did not end within its time and 1 s more",
    "stop-start": "the worker was not READY within its time and 1 s more",
    "stop-window": "the worker was not DONE within its time and 1 s more",
    "ignore-term-window": "the worker was not DONE within its time and 1 s more",
    "close-start": "the worker was not READY within its time and 1 s more",
    "close-window": "the worker was not DONE within its time and 1 s more",
    "failed-start": "the sentence of start",
    "failed-window": "the sentence of window",
    "order-start": "the worker said RESULT, not READY",
    "order-window": "the worker said RESULT, not DONE",
    "order-end": "the worker said READY, not RESULT",
    "magic-start": "the worker said something that is no message",
    "short-window": "the worker said something that is no message",
    "version-start": "the worker speaks version 9 of the protocol, not 1",
    "type-window": "the worker sent a message of unknown type 200",
    "size-start": "the worker sent a message that says 70000 bytes and holds 3",
    "huge-end": "the worker sent a message that says 100000 bytes and holds",
    "done-early": "of a window of 50 ms",
    "not-json": "the worker sent a result that is no JSON",
    "deep-json": "the worker sent a result that is no JSON",
    "nul": "the worker sent a result that is incomplete",
    "incomplete": "the worker sent a result that is incomplete",
    "result-twice": "the worker said RESULT, not nothing more",
    "metric-missing": "the worker sent no believable value of metric 'round-trip'",
    "metric-extra": "the worker sent metrics that benchmark 'switch' does not have",
    "metric-negative": "the worker sent no believable value of metric 'wake-call'",
    "metric-text": "the worker sent no believable value of metric 'wake-call'",
    "metric-twice": "the worker sent no believable value of metric 'wake-call'",
    "metric-contradicts": "the worker reported round-trip =",
    "counts-differ": "the worker reported 12500 round trips, of which its tasks counted 12500 and 12600",
    "no-trips": "the worker reported not one round trip",
    "other-cpu": "the worker reported that task 1 ran on CPU 0 and CPU 777, not on CPU 0",
    "other-benchmark": "the worker sent a result of something else: 'cacheline' version 1",
    "other-hash": "the worker sent a result of something else",
    "other-version": "the worker sent a result of something else: 'switch' version 99",
    "no-tasks": "the worker sent counts of 0 tasks",
    "many-tasks": "the worker sent counts of 100 tasks",
    "task-incomplete": "the worker sent counts of a task that are incomplete",
    "window-long": "the worker reported a window of 50 s, but was DONE after",
    "window-short": "the worker measured for only 5 ms of a window of 50 ms",
}


def measure(d, worker, status, grace="30s"):
    config = d.file("c.conf", f"[measure]\nworker-grace = {grace}\nwarm-up = 0\n")
    return ctl("--config", config, "--worker", worker, "--topology", MACHINE, "measure", "switch",
               "--pair", "0-0", "--rounds", "1", "--duration", "50ms", "--json=short",
               status=status)


def liar(d, how):
    path = os.path.join(d.path, "liar-" + how)
    os.symlink(LIAR, path)
    return path


@test
def an_honest_stand_in_is_believed():
    with Directory() as d:
        done = measure(d, liar(d, "honest"), 0).json()
        equal(done["rows"][0]["metrics"]["wake-call"]["median"], 500.0)
        equal(done["counts"], {"samples": 1, "failed": 0, "tainted": 0})


@test
def taints_are_told_where_they_are():
    with Directory() as d:
        done = measure(d, liar(d, "tainted"), 0).json()
        equal(done["counts"], {"samples": 1, "failed": 0, "tainted": 1})
        row = done["rows"][0]
        equal((row["tainted"], row["taints"]), (1, {"disturbed": 1, "few-switches": 1}))
        equal(sorted(done["taints"]), ["disturbed", "few-switches"])
        text = ctl("--worker", liar(d, "tainted-too"), "--topology", MACHINE, "measure", "switch",
                   "--pair", "0-0", "--rounds", "2", "--duration", "1ms").out
        for part in ("TAINTED", "class self, pair 0-0: 2 of 2 samples tainted: 2 disturbed, 2 few-switches",
                     "  disturbed: others ran on these CPUs"):
            contains(text, part)
        text = ctl("--worker", liar(d, "honest"), "--topology", MACHINE, "measure", "switch",
                   "--pair", "0-0", "--rounds", "1", "--duration", "1ms").out
        equal("TAINTED" in text or "ainted" in text, False, text)


@test
def failures_are_told_where_they_are():
    with Directory() as d:
        done = ctl("--worker", liar(d, "exit-window"), "--topology", MACHINE, "measure", "switch",
                   "--class", "self", "--pairs-per-class", "1", "--rounds", "2", "--duration", "1ms",
                   status=1)
        contains(done.out, "(all failed)")
        contains(done.out, "2 of 2 samples failed:\n  the worker ended with status 3\n")


@test
def an_early_death_is_told_by_its_cause():
    # It may have gone before or after the request is sent.
    for _ in range(10):
        done = ctl("--worker", "/bin/false", "--topology", MACHINE, "measure", "switch", "--pair",
                   "0-0", "--rounds", "1", status=1)
        contains(done.err, "job 1 failed: the worker ended with status 1")


def lie(how, sentence):
    def tells():
        with Directory() as d:
            done = measure(d, liar(d, how), 1, "1s" if "1 s more" in sentence else "30s")
            failures = done.json()["failures"]
            equal(len(failures), 1)
            contains(failures[0]["why"], sentence)
            # The person at the terminal reads the same.
            contains(done.err, sentence)
    tells.__name__ = "told_" + how.replace("-", "_")
    test(tells)


for _how, _sentence in LIES.items():
    lie(_how, _sentence)


@test
def tasks_left_behind_are_killed():
    with Directory() as d:
        path = liar(d, "child-left")
        measure(d, path, 0)
        wait_for(lambda: not [p for p in os.listdir("/proc") if p.isdigit() and is_alive(int(p)) and
                              path in command_of(p)], "the end of the worker's child")


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as text:
            return text.read()
    except OSError:
        return ""


@test
def a_worker_that_cannot_be_started():
    with Directory() as d:
        contains(measure(d, os.path.join(d.path, "nothing"), 1).err,
                 "cannot start the worker " + d.path + "/nothing: No such file or directory")
        contains(measure(d, d.file("text", "no program"), 1).err, "Permission denied")


@test
def other_samples_go_on():
    # One pair never works, and is given up; the other is measured to the end.
    with Directory() as d:
        worker = d.file("worker", f"""#!/usr/bin/python3
import os, sys, socket
wire = socket.socket(fileno=os.dup(int(sys.argv[2])))
packet = wire.recv(1 << 17, socket.MSG_PEEK)
name = "liar-kill-window" if b'"cpus":[1,' in packet else "liar-honest"
path = {d.path!r} + "/" + name
os.execv(path, [path, *sys.argv[1:]])
""", 0o755)
        liar(d, "kill-window")
        liar(d, "honest")
        done = ctl("--worker", worker, "--topology", MACHINE, "measure", "switch", "--pair", "0-0",
                   "--pair", "1-1", "--rounds", "6", "--duration", "1ms", "--json=short", status=1)
        rows = {tuple(r["pair"]): r for r in done.json()["rows"]}
        equal((rows[0, 0]["samples"], rows[0, 0]["failed"]), (6, 0))
        equal((rows[1, 1]["samples"], rows[1, 1]["failed"]), (0, 3))
        contains(done.err, "job 1 failed: the worker was killed by signal 9")


def start_measuring():
    process = subprocess.Popen(
        [CTL, "--standalone", "measure", "switch", "--class", "self", "--pairs-per-class", "1",
         "--rounds", "1", "--duration", "2s"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(len(children(w)) == 2 for p in children(process.pid) for w in children(p)),
             "a worker with its two tasks")
    worker = children(children(process.pid)[0])[0]
    # Well inside the window.
    time.sleep(0.5)
    return process, worker


@test
def the_real_worker_is_killed():
    process, worker = start_measuring()
    tasks = children(worker)
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1)
    contains(err, "the worker was killed by signal 9 (Killed)")
    wait_for(lambda: not any(is_alive(p) for p in tasks), "the end of the tasks")


@test
def a_task_of_the_real_worker_is_killed():
    process, worker = start_measuring()
    os.kill(children(worker)[1], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1)
    contains(err, "task 1 was killed by signal 9 (Killed)")


@test
def the_real_worker_is_stopped_and_the_job_cancelled():
    process, worker = start_measuring()
    os.kill(worker, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1)
    contains(err, "cancelling job ")
    equal(is_alive(worker), False)


@test
def by_hand_the_worker_prints_its_result():
    out = subprocess.run([WORKER, "--duration", "20ms", "switch"], capture_output=True, text=True,
                         check=True)
    contains(out.stdout, '"benchmark":"switch"')
    for args, says in ((["switch:mode=x"], "is not a value"), ([], "name one benchmark"),
                       (["--cpus", "0", "switch"], "is not a pair of CPUs"),
                       (["--cpus", "0,60000", "switch"], "CPU 60000 cannot be used")):
        out = subprocess.run([WORKER, *args], capture_output=True, text=True)
        equal(out.returncode in (1, 2), True)
        contains(out.stderr, says)


@test
def the_worker_wants_its_parent():
    # Started with another parent than it was told it ends at once, silently.
    out = subprocess.run([os.path.join(BIN, "schedlab-worker"), "--fd", "0", "--parent", "1"],
                         capture_output=True, stdin=subprocess.DEVNULL)
    equal(out.returncode, 1)


run()
