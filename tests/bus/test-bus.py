#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The daemon on a private bus: objects, methods, signals, jobs and their owners, bad callers."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from tap import (DAEMON, PATIENCE, TOP, Bus, Directory, Skip, children, contains, equal, finish,
                 is_alive, run, test, wait_for)

NAME, ROOT = "org.schedlab.SchedLab1", "/org/schedlab/SchedLab1"
XML = os.path.join(TOP, "conf/dbus/org.schedlab.SchedLab1.xml")
SELF = ("measure", "switch", "--class", "self", "--pairs-per-class", "1", "--duration", "10ms")


def shape(interface):
    """An interface of the introspection data as something that can be compared."""
    parts = []
    for part in interface:
        if part.tag not in ("method", "signal", "property"):
            continue
        arguments = [(a.get("name"), a.get("type"), a.get("direction")) for a in part.findall("arg")]
        notes = sorted((a.get("name"), a.get("value")) for a in part.findall("annotation"))
        parts.append((part.tag, part.get("name"), part.get("type"), part.get("access"), arguments,
                      notes))
    return sorted(parts, key=str)


@test
def the_xml_is_what_is_served():
    truth = {i.get("name"): shape(i) for i in ElementTree.parse(XML).getroot().iter("interface")}
    with Bus() as bus:
        bus.ctl(*SELF, "--rounds", "1")
        served = {}
        for path in ("", "/class/unpinned", "/benchmark/switch", "/job/1"):
            text = bus.busctl("--xml-interface", "introspect", NAME, ROOT + path).out
            for interface in ElementTree.fromstring(text).findall("interface"):
                if interface.get("name").startswith(NAME):
                    served[interface.get("name")] = shape(interface)
    equal(served, truth)


@test
def objects_below_the_root():
    with Bus() as bus:
        done = bus.busctl("--json=short", "call", NAME, ROOT, "org.freedesktop.DBus.ObjectManager",
                          "GetManagedObjects").out
        objects = json.loads(done)["data"][0]
        for path in ("/class/unpinned", "/benchmark/switch", "/benchmark/cacheline"):
            equal(ROOT + path in objects, True, path)
        switch = objects[ROOT + "/benchmark/switch"][NAME + ".Benchmark"]
        equal(switch["Metrics"]["data"][0], ["round-trip", "ns", "lower"])
        listed = json.loads(bus.busctl("--json=short", "call", NAME, ROOT, NAME + ".Manager",
                                       "ListPairClasses").out)["data"][0]
        equal({path for _, path in listed} <= set(objects), True)
        fingerprint = json.loads(bus.busctl("--json=short", "get-property", NAME, ROOT,
                                            NAME + ".Manager", "Fingerprint").out)["data"]
        equal(len(fingerprint["id"]["data"]), 16)
        bus.busctl("tree", NAME)


@test
def measure_by_busctl_with_its_signals():
    with Bus() as bus:
        heard = bus.dir.file("heard", "")
        with open(heard, "w", encoding="utf-8") as out:
            monitor = subprocess.Popen(
                ["dbus-monitor", "--address", bus.env["DBUS_SYSTEM_BUS_ADDRESS"],
                 f"type='signal',path_namespace='{ROOT}'"], stdout=out, stderr=subprocess.DEVNULL)

        def hears(part):
            with open(heard, encoding="utf-8") as text:
                return part in text.read()

        wait_for(lambda: hears("NameAcquired"), "the monitor")
        out = bus.call("Measure", "asasa{sv}", "1", "switch:mode=futex", "1",
                       first_class(bus), "4", "rounds", "u", "2", "duration-usec", "t", "10000",
                       "pairs-per-class", "u", "1", "detach", "b", "true").out
        path = out.split('"')[1]
        wait_for(lambda: hears("member=JobRemoved"), "JobRemoved")
        with open(heard, encoding="utf-8") as lines:
            text = lines.read()
        for part in ("member=InterfacesAdded", "member=JobNew", "member=PropertiesChanged",
                     path, 'string "done"'):
            contains(text, part)
        equal(text.index("member=JobNew") < text.index("member=JobRemoved"), True)
        finish(monitor)
        state = bus.busctl("get-property", NAME, path, NAME + ".Job", "State", "Progress").out
        equal(state.split(), ["s", '"done"', "d", "1"])
        text = json.loads(bus.busctl("--json=short", "call", NAME, path, NAME + ".Job",
                                     "GetResult").out)["data"][0]
        result = json.loads(text)
        equal(result["counts"], {"samples": 2, "failed": 0, "tainted": result["counts"]["tainted"]})


def first_class(bus):
    listed = bus.call("ListPairClasses").out
    return listed.split('"')[1]


@test
def errors_have_names():
    with Bus() as bus:
        for args, name, says in (
                (("1", "swich", "0", "0"), "NoSuchBenchmark", "did you mean 'switch'?"),
                (("0", "1", "l9", "0"), "NoSuchClass", "no pair class 'l9'"),
                (("0", "0", "1", "round", "u", "3"), "InvalidArgument", "did you mean 'rounds'?"),
                (("0", "0", "1", "rounds", "t", "3"), "InvalidArgument", "has type 't' but takes 'u'"),
                (("0", "0", "1", "rounds", "u", "0"), "InvalidArgument", "0 is out of range"),
                (("0", "0", "2", "seed", "t", "1", "seed", "t", "2"), "InvalidArgument", "given twice"),
                (("0", "0", "1", "duration-usec", "t", "1"), "InvalidArgument", "1 us is out of range"),
                (("0", "0", "1", "cpus", "s", "x"), "InvalidArgument", "cpus: 'x' is not a CPU list"),
                (("0", "0", "1", "pairs", "a(uu)", "1", "0", "70000"), "InvalidArgument", "CPU 70000"),
                (("0", "0", "1", "pairs", "a(uu)", "0"), "InvalidArgument", "pairs: the list is empty"),
                (("17", *["switch"] * 17, "0", "0"), "LimitsExceeded", "more than 16 benchmarks"),
        ):
            done = subprocess.run(
                ["dbus-send", "--system", "--print-reply", f"--dest={NAME}", ROOT,
                 NAME + ".Manager.Nothing"], env=bus.env, capture_output=True, text=True)
            equal(done.returncode, 1)
            done = bus.call("Measure", "asasa{sv}", *args, status=1)
            contains(done.err, says)
            equal(error_name(bus, args), "org.schedlab.Error." + name)
        contains(bus.call("GetJob", "t", "99", status=1).err, "there is no job 99")


def error_name(bus, args):
    """busctl shows only sentences; this asks by the debug log of the library."""
    env = dict(bus.env, SYSTEMD_LOG_LEVEL="debug", SYSTEMD_LOG_TARGET="console")
    done = subprocess.run(["busctl", "--system", "call", NAME, ROOT, NAME + ".Manager", "Measure",
                           "asasa{sv}", *args], capture_output=True, text=True, env=env)
    found = re.findall(r"error-name=(org\.schedlab\.\S+)", done.stderr)
    return found[0] if found else done.stderr


@test
def a_job_ends_with_its_caller():
    with Bus() as bus:
        client = bus.start_ctl(*SELF, "--rounds", "100000")
        wait_for(lambda: any(j["state"] == "running" for j in bus.jobs()), "the job")
        client.kill()
        client.wait()
        wait_for(lambda: bus.jobs()[0]["state"] == "cancelled", "the job's end")
        contains(bus.jobs()[0]["why"], "who asked for it has left the bus")
        equal(children(bus.daemon.pid), [])


@test
def a_job_has_one_path():
    with Bus() as bus:
        bus.ctl(*SELF, "--rounds", "1", "--detach")
        for name, status in (("_31", 0), ("_2b1", 1), ("_201", 1), ("01", 1), ("_301", 1)):
            bus.busctl("call", NAME, f"{ROOT}/job/{name}", NAME + ".Job", "Describe", status=status)


@test
def a_detached_job_goes_on():
    with Bus() as bus:
        contains(bus.ctl(*SELF, "--rounds", "3", "--detach").out, "job 1 measures")
        contains(bus.ctl("jobs", "wait", "1").out, "round-trip")
        equal([j["state"] for j in bus.jobs()], ["done"])
        contains(bus.ctl("jobs", "show", "1").out, "round-trip")
        contains(bus.ctl("jobs", "cancel", "1").out, "job 1 has ended already: done")
        listed = bus.ctl("jobs", "list").out
        contains(listed, "measure switch: 1 row, 3 rounds of 10 ms done")


@test
def one_measures_and_others_wait():
    with Bus() as bus:
        bus.ctl(*SELF, "--rounds", "100000", "--detach")
        bus.ctl(*SELF, "--rounds", "1", "--detach")
        wait_for(lambda: bus.jobs()[0]["state"] == "running", "the first job")
        equal([j["state"] for j in bus.jobs()], ["running", "queued"])
        contains(bus.ctl("jobs", "show", "1").out, "running")
        contains(bus.ctl("jobs", "list").out, "waits for 1 other")
        contains(bus.ctl("jobs", "cancel", "1").out, "job 1 is cancelled")
        # Cancelling keeps what was measured, and the next one runs.
        contains(bus.ctl("jobs", "wait", "2").out, "round-trip")
        equal([j["state"] for j in bus.jobs()], ["cancelled", "done"])
        bus.ctl(*SELF, "--rounds", "100000", "--detach")
        bus.ctl(*SELF, "--rounds", "1", "--detach")
        bus.ctl("jobs", "cancel", "4")
        equal(bus.jobs()[3]["state"], "cancelled")
        contains(bus.ctl("jobs", "wait", "4", status=1).err, "job 4 was cancelled")


@test
def too_many_jobs_are_refused():
    with Bus() as bus:
        bus.ctl(*SELF, "--rounds", "100000", "--detach")
        for _ in range(31):
            bus.ctl(*SELF, "--rounds", "1", "--detach")
        done = bus.ctl(*SELF, "--rounds", "1", "--detach", status=2)
        contains(done.err, "32 jobs are waiting already")
        for number in range(1, 33):
            bus.ctl("jobs", "cancel", str(number))
        wait_for(lambda: all(j["state"] == "cancelled" for j in bus.jobs()), "the end of all jobs")


@test
def sixty_four_results_are_kept():
    with Bus("--worker", "/bin/false", "--topology", "synthetic:core:2 pu:1") as bus:
        # Such a worker fails at once, so that jobs are quick.
        for _ in range(70):
            bus.ctl("measure", "switch", "--class", "self", "--pairs-per-class", "1", "--rounds", "1",
                    status=1)
        equal([j["job"] for j in bus.jobs()], list(range(7, 71)))
        contains(bus.ctl("jobs", "show", "6", status=2).err,
                 "there is no job 6 among the last 64; 'schedlabctl")


@test
def interrupt_at_the_terminal():
    with Bus() as bus:
        client = bus.start_ctl(*SELF, "--rounds", "100000")
        wait_for(lambda: any(j["state"] == "running" for j in bus.jobs()), "the job")
        status, _, err = finish(client, signal.SIGINT)
        equal(status, 1)
        contains(err, "cancelling job 1")
        equal(bus.jobs()[0]["state"], "cancelled")


@test
def interrupt_of_a_mere_waiter():
    with Bus() as bus:
        job = bus.ctl(*SELF, "--rounds", "100000", "--detach", "--json=short").json()
        equal((job["job"], job["ahead"], job["state"] in ("queued", "running")), (1, 0, True))
        job = bus.ctl(*SELF, "--rounds", "1", "--detach", "--json=short").json()
        equal((job["job"], job["ahead"], job["state"]), (2, 1, "queued"))
        contains(bus.ctl(*SELF, "--rounds", "1", "--detach").out,
                 "job 3 waits for 2 others; 'schedlabctl jobs wait 3' shows its result")
        waiter = bus.start_ctl("jobs", "wait", "2")
        equal(waiter.stderr.readline(), "job 2 waits for 1 other; one measures at a time\n")
        status, _, err = finish(waiter, signal.SIGINT)
        equal(status, 1)
        contains(err, "nobody waits for job 2 any more; it goes on")
        equal([j["state"] for j in bus.jobs()], ["running", "queued", "queued"])


@test
def sigterm_ends_the_daemon_in_order():
    with Bus() as bus:
        client = bus.start_ctl(*SELF, "--rounds", "100000")
        wait_for(lambda: children(bus.daemon.pid), "a worker")
        workers = children(bus.daemon.pid)
        bus.daemon.terminate()
        equal(bus.daemon.wait(timeout=PATIENCE), 0)
        equal([p for p in workers if is_alive(p)], [])
        status, _, err = finish_by_itself(client)
        equal(status, 1)
        contains(err, "job 1 was cancelled")
        contains(err, "the daemon")


@test
def a_killed_daemon_keeps_nobody_waiting():
    with Bus() as bus:
        client = bus.start_ctl(*SELF, "--rounds", "100000")
        wait_for(lambda: children(bus.daemon.pid), "a worker")
        tree = children(bus.daemon.pid)
        bus.daemon.kill()
        status, _, err = finish_by_itself(client)
        equal(status, 1)
        # And the job with it, unless the client had not come so far.
        contains(err, "the daemon has gone")
        wait_for(lambda: not any(is_alive(p) for p in tree), "the end of the workers")


@test
def a_daemon_that_is_killed_while_it_is_asked():
    with Bus() as bus:
        os.kill(bus.daemon.pid, signal.SIGSTOP)
        client = bus.start_ctl("status")
        time.sleep(0.5)  # it waits for the answer then; if not, it is told that nobody answers
        bus.daemon.kill()
        status, _, err = finish_by_itself(client)
        equal(status, 1)
        equal("the daemon has gone before it could answer" in err or "no daemon answers" in err, True, err)


def finish_by_itself(process):
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@test
def a_bus_that_goes_is_a_failure():
    # A unit that ended well would not be started again.
    with Bus() as bus:
        bus.broker.kill()
        bus.broker.wait()
        equal(bus.daemon.wait(timeout=PATIENCE), 1)
        contains(bus.said(), "the bus has closed the connection; jobs and results are lost")


@test
def a_second_daemon_is_refused_the_name():
    with Bus() as bus:
        done = subprocess.run([DAEMON], env=bus.env, capture_output=True, text=True,
                              timeout=PATIENCE)
        equal(done.returncode, 1)
        equal(done.stderr.count("\n"), 1, done.stderr)
        contains(done.stderr, "another daemon has the name org.schedlab.SchedLab1 already")


@test
def without_a_bus_or_a_daemon():
    env = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent/bus",
               DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent/bus")
    for program, args in ((DAEMON, []), (DAEMON, ["--user"])):
        done = subprocess.run([program, *args], env=env, capture_output=True, text=True)
        equal(done.returncode, 1)
        contains(done.stderr, "cannot connect to the")
    with Bus() as bus:
        done = subprocess.run([DAEMON.replace("schedlabd", "schedlabctl"), "status"], env=env,
                              capture_output=True, text=True)
        equal(done.returncode, 1)
        contains(done.stderr, "without one, use --standalone")
        bus.daemon.terminate()
        bus.daemon.wait(timeout=PATIENCE)
        done = bus.ctl("status", status=1)
        contains(done.err, "no daemon answers on the bus")
    # A host that does not answer.
    with Bus() as bus:
        done = bus.ctl("-H", "nobody@localhost.invalid", "status", status=1)
        contains(done.err, "schedlabctl: ")


@test
def the_users_bus_works_too():
    with Bus("--user") as bus:
        contains(bus.ctl("--user", "status").out, "on the user's bus")


@test
def versions_must_be_equal():
    with Directory() as d, Bus() as bus:
        # A client of another version: the same program with other bytes.
        with open(DAEMON.replace("schedlabd", "schedlabctl"), "rb") as program:
            data = program.read()
        equal(data.count(b"0.1.0\0") > 0, True)
        path = os.path.join(d.path, "schedlabctl")
        with open(path, "wb") as other:
            other.write(data.replace(b"0.1.0\0", b"9.1.0\0"))
        os.chmod(path, 0o755)
        done = subprocess.run([path, "status"], env=bus.env, capture_output=True, text=True)
        equal(done.returncode, 1)
        contains(done.stderr, "this is schedlabctl 9.1.0, but the daemon is 0.1.0")


@test
def others_may_read_but_not_measure():
    if os.getuid() != 0:
        raise Skip("only root can become somebody else")
    with Bus() as bus:
        somebody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        base = [*somebody, "busctl", "--system"]
        done = subprocess.run([*base, "call", NAME, ROOT, NAME + ".Manager", "Measure", "asasa{sv}",
                               "0", "0", "0"], env=bus.env, capture_output=True, text=True)
        equal(done.returncode, 1)
        contains(done.stderr, "ccess denied")
        done = subprocess.run([*base, "call", NAME, ROOT, NAME + ".Manager", "Describe"],
                              env=bus.env, capture_output=True, text=True)
        equal(done.returncode, 0, done.stderr)


@test
def cpus_that_go_are_noticed():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("this machine has one CPU")
    with Bus() as bus:
        before = bus.ctl("topology", "--json=short").json()
        os.sched_setaffinity(bus.daemon.pid, {cpus[0]})
        after = bus.ctl("topology", "--json=short").json()
        equal(after["cpu_lists"]["measured"], str(cpus[0]))
        equal([c["id"].split(":")[0] for c in after["classes"]], ["self", "unpinned"])
        equal(before["fingerprint"]["id"], after["fingerprint"]["id"])
        contains(bus.said(), "CPUs have changed")
        contains(bus.ctl("measure", "switch", "--pair", f"{cpus[0]}-{cpus[1]}", status=2).err,
                 f"CPU {cpus[1]} cannot be measured: outside the cpuset or the affinity")
        bus.ctl(*SELF, "--rounds", "1")
        os.sched_setaffinity(bus.daemon.pid, cpus)
        equal(bus.ctl("topology", "--json=short").json()["classes"], before["classes"])


@test
def another_host_by_ssh():
    # ssh is played by a script that runs the far side's bridge here.
    with Bus() as bus:
        bus.dir.file("bin/ssh", """#!/bin/sh
for word; do case $word in *@*) echo "$word" >"$SSH_SAID" ;; esac; done
exec systemd-stdio-bridge --bus-path="$DBUS_SYSTEM_BUS_ADDRESS"
""", 0o755)
        said = os.path.join(bus.dir.path, "said")
        bus.env.update(PATH=f"{bus.dir.path}/bin:{os.environ['PATH']}", SSH_SAID=said)
        contains(bus.ctl("-H", "somebody@faraway", "status").out, "somebody@faraway")
        contains(bus.ctl("--host", "somebody@faraway", *SELF, "--rounds", "1").out, "round-trip")
        with open(said, encoding="utf-8") as text:
            equal(text.read().strip(), "somebody@faraway")


@test
def a_flood_of_callers_leaves_the_daemon_well():
    with Bus() as bus:
        floods = [subprocess.Popen(
            ["sh", "-c", f"for i in $(seq 60); do busctl --system call {NAME} {ROOT} "
             f"{NAME}.Manager DescribeTopology >/dev/null || exit 1; done"], env=bus.env)
            for _ in range(4)]
        equal([f.wait(timeout=PATIENCE) for f in floods], [0, 0, 0, 0])
        bus.ctl("status")


run()
