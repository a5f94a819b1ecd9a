#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The store through the daemon: what is measured is kept, can be asked for, and survives; and its troubles."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import dbus
from tap import (BIN, DAEMON, PATIENCE, TOP, Bus, Directory, Skip, contains, ctl, equal, finish, run, test,
                 wait_for)

NAME, ROOT, MANAGER = ("org.schedlab.SchedLab1", "/org/schedlab/SchedLab1",
                       "org.schedlab.SchedLab1.Manager")
FILL = os.path.join(os.path.dirname(BIN), "tools/fill-store")
MACHINE = ("--topology", "synthetic:package:2 l3:2 core:2 pu:2")
SLOT, SUPERBLOCKS = 512, 8192


def stand_in(d, **orders):
    """The arguments of a daemon whose results are invented: no machine's speed matters."""
    path = os.path.join(d.path, "worker")
    if not os.path.islink(path):
        os.symlink(os.path.join(TOP, "tests/fake/worker"), path)
    d.file("worker.json", json.dumps(orders))
    return [*MACHINE, "--worker", path]


def fill(directory, records, size=None):
    subprocess.run([FILL, directory, str(records)] + ([str(size)] if size else []), check=True)


def stop(bus, number=signal.SIGTERM):
    bus.daemon.send_signal(number)
    bus.daemon.wait(timeout=PATIENCE)


def refill(bus, records, size=None):
    """A daemon on a store that months have filled."""
    stop(bus)
    fill(bus.state, records, size)
    bus.start()


class Manager:
    """The manager's methods, by a connection of its own."""

    def __init__(self, bus):
        self.connection = dbus.bus.BusConnection(bus.env["DBUS_SYSTEM_BUS_ADDRESS"])
        self.object = self.connection.get_object(NAME, ROOT, introspect=False)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.connection.close()

    def call(self, method, signature="", *args):
        return self.object.get_dbus_method(method, MANAGER)(*args, signature=signature,
                                                            timeout=PATIENCE)

    def page(self, cursor=0, limit=0, **filters):
        cursor, text = self.call("QueryPage", "a{sv}tu", typed(filters), cursor, limit)
        return int(cursor), [json.loads(line) for line in text.splitlines()]

    def records(self, **filters):
        """All pages of a query."""
        found, cursor = [], 0
        while True:
            cursor, page = self.page(cursor, **filters)
            found += page
            if cursor == 0:
                return found

    def pipe(self, **filters):
        return os.fdopen(self.call("Query", "a{sv}", typed(filters)).take(), encoding="utf-8")

    def check(self):
        return json.loads(self.call("CheckStore"))

    def refuses(self, error, sentence, method, signature="", *args):
        try:
            self.call(method, signature, *args)
        except dbus.DBusException as e:
            equal(e.get_dbus_name(), "org.schedlab.Error." + error)
            contains(e.get_dbus_message(), sentence)
            return
        raise AssertionError(f"{method} was not refused")


def typed(filters):
    types = {"since": ("since-usec", dbus.UInt64), "until": ("until-usec", dbus.UInt64),
             "job": ("job", dbus.UInt64), "experiment": ("experiment", dbus.UInt64),
             "arm": ("arm", dbus.UInt32), "kinds": ("kinds", lambda v: dbus.Array(v, "s")),
             "classes": ("classes", lambda v: dbus.Array(v, "s")),
             "pairs": ("pairs", lambda v: dbus.Array([dbus.Struct([dbus.UInt32(c) for c in p]) for p in v],
                                                     "(uu)"))}
    made = {}
    for name, value in filters.items():
        key, make = types.get(name, (name, dbus.String))
        made[key] = make(value)
    return dbus.Dictionary(made, "sv")


def measure(bus, *args, status=0):
    return bus.ctl("measure", "switch", "--duration", "1ms", *args, status=status)


def restart(bus, number=signal.SIGTERM):
    stop(bus, number)
    bus.start()


@test
def measured_today_asked_tomorrow():
    orders = {"noise": {"kind": "normal", "sd": 0.1}}
    with Directory() as d, Bus(*stand_in(d, **orders)) as bus:
        measure(bus, "--rounds", "4")
        measure(bus, "cacheline", "--class", "core", "--rounds", "2")
        with Manager(bus) as m:
            before = [json.loads(m.call("GetJobResult", "t", job)) for job in (1, 2)]
            records = m.records()
        restart(bus)
        with Manager(bus) as m:
            # As it was shown when it ended, to the last digit.
            for job, live in zip((1, 2), before):
                equal(live["state"], "done")
                equal(live["store"], {"kept": live["counts"]["samples"], "unkept": 0, "why": None})
                equal(json.loads(m.call("GetJobResult", "t", job)), live)
            equal(m.records(), records)
            m.refuses("NoSuchJob", "nothing is kept of a job 3", "GetJobResult", "t", 3)
            samples = [r for r in records if r["kind"] == "sample"]
            equal(len(samples), sum(b["counts"]["samples"] for b in before))
            # A row's values are its records' values, in the order of their sequences.
            for row in before[0]["rows"]:
                values = [r["metrics"]["round-trip"]["value"] for r in samples
                          if (r["job"], r["class"], r["pair"]) == (1, row["class"], row["pair"])]
                equal(values, row["metrics"]["round-trip"]["values"])
            equal([r["sequence"] for r in records], list(range(1, len(records) + 1)))
            equal([(r["job"], r["state"]) for r in records if r["kind"] == "job"],
                  [(1, "running"), (1, "done"), (2, "running"), (2, "done")])
        # Another number than any before.
        measure(bus, "--class", "self", "--rounds", "1")
        equal([j["job"] for j in bus.jobs()], [3])


@test
def failures_and_taints_are_kept_as_they_were():
    with Directory() as d, Bus(*stand_in(d, taints={"3": "disturbed", "9": "few-switches"},
                                             lies={"5": "not-json", "11": "incomplete", "12": "not-json"})) as bus:
        measure(bus, "--class", "core,self", "--rounds", "8", status=None)
        with Manager(bus) as m:
            live = json.loads(m.call("GetJobResult", "t", 1))
            restart(bus)
        with Manager(bus) as m:
            equal(json.loads(m.call("GetJobResult", "t", 1)), live)
            records = m.records(kinds=["sample"])
            equal(sum(r["failed"] is not None for r in records), live["counts"]["failed"])
            equal(sum(r["taints"] != [] for r in records), live["counts"]["tainted"])
        for counted in ("failed", "tainted"):
            equal(live["counts"][counted] > 0, True, counted)


@test
def a_killed_daemons_job_is_shown_for_what_it_was():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        client = bus.start_ctl("measure", "switch", "--class", "self", "--duration", "1ms", "--rounds",
                               "20000")
        with Manager(bus) as m:
            wait_for(lambda: len(m.records(kinds=["sample"])) > 8, "some samples")
        stop(bus, signal.SIGKILL)
        finish(client)
        bus.start()
        with Manager(bus) as m:
            found = json.loads(m.call("GetJobResult", "t", 1))
            equal(found["state"], "failed")
            contains(found["why"], "the daemon ended before the job did")
            equal(found["counts"]["samples"], len(m.records(kinds=["sample"])))
            equal(found["options"]["rounds"], 20000)
            equal(found["rounds_done"], found["counts"]["samples"] // 3)
            # The next daemon has written the end that the killed one could not.
            ends = [r for r in m.records(kinds=["job"]) if r["state"] != "running"]
            equal([(r["job"], r["state"], r["lost"]) for r in ends], [(1, "failed", True)])
        restart(bus)
        with Manager(bus) as m:
            equal(len(m.records(kinds=["job"])), 2)
            equal(json.loads(m.call("GetJobResult", "t", 1)), found)


@test
def a_cancelled_job_keeps_its_empty_rows():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        # 16 benchmarks' worth of rows, and an end after some of them.
        client = bus.start_ctl("measure", "switch", "cacheline", "--duration", "300ms", "--rounds", "2")
        with Manager(bus) as m:
            wait_for(lambda: len(m.records(kinds=["sample"])) > 1, "some samples")
            finish(client, signal.SIGINT)
            live = json.loads(m.call("GetJobResult", "t", 1))
            equal((live["state"], any(r["samples"] == 0 for r in live["rows"])), ("cancelled", True))
        restart(bus)
        with Manager(bus) as m:
            equal(json.loads(m.call("GetJobResult", "t", 1)), live)


@test
def job_numbers_do_not_meet_again():
    with Directory() as d, Bus(*stand_in(d)) as first, Bus(*stand_in(d)) as second:
        measure(first, "--class", "self", "--rounds", "1")
        stop(second)
        second.state = first.state
        second.start()
        # Two are asked for while another daemon has the store, which goes before the second begins.
        clients = [second.start_ctl("measure", "switch", "--class", c, "--duration", "1ms", "--rounds", n)
                   for c, n in (("self", "60"), ("core", "2"))]
        wait_for(lambda: len(second.jobs()) == 2, "two jobs")
        stop(first)
        for client in clients:
            client.communicate(timeout=PATIENCE)
        measure(second, "--class", "self", "--rounds", "1")
        with Manager(second) as m:
            ends = [r["job"] for r in m.records(kinds=["job"]) if r["state"] == "done"]
            equal(len(ends), len(set(ends)))
            equal(len({(r["job"], r["class"]) for r in m.records(kinds=["sample"])}),
                  len({r["job"] for r in m.records(kinds=["sample"])}))
        first.daemon = second.daemon


@test
def files_that_are_not_ours_are_not_replaced():
    with Directory() as d, Bus(*stand_in(d)) as first, Bus(*stand_in(d)) as second:
        stop(second)
        os.mkdir(first.state + "-away")
        for name in os.listdir(first.state):
            os.rename(f"{first.state}/{name}", f"{first.state}-away/{name}")
        second.state = first.state
        second.start()
        measure(second, "--class", "self", "--rounds", "1")
        with Manager(first) as m, Manager(second) as other:
            m.refuses("Busy", "writes this store", "ResizeStore", "t", 1 << 20)
            m.refuses("Busy", "writes this store", "ClearStore")
            equal(len(other.records()), 5)


@test
def a_limit_of_file_sizes_is_no_end():
    with Directory() as d:
        done = subprocess.run(["sh", "-c", 'ulimit -f 1024; exec "$@"', "sh", os.path.join(BIN, "schedlabctl"),
                               *stand_in(d), "--state-dir", os.path.join(d.path, "state"), "measure", "switch",
                               "--class", "self", "--rounds", "1", "--duration", "1ms", "--json=short"],
                              capture_output=True, text=True)
        equal(done.returncode, 0, done.stderr)
        equal(json.loads(done.stdout)["store"]["unkept"], 3)
        contains(done.stderr, "File too large")


@test
def a_store_that_goes_during_a_measurement():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        client = bus.start_ctl("measure", "switch", "--class", "self", "--duration", "1ms", "--rounds", "40",
                               "--json=short")
        with Manager(bus) as m:
            wait_for(lambda: len(m.records(kinds=["sample"])) > 5, "some samples")
        os.rename(bus.state, bus.state + "-elsewhere")
        out, _ = client.communicate(timeout=PATIENCE)
        kept = json.loads(out)["store"]
        equal((kept["kept"], kept["unkept"]), (0, 120))
        contains(kept["why"], "moved or removed")


@test
def two_machines_in_one_home():
    mine, theirs = "/etc/machine-id", None
    if os.geteuid() != 0 or not os.path.exists(mine):
        return  # who is not root has one machine id
    with Directory() as d:
        theirs = d.file("other-id", "0123456789abcdef0123456789abcdef\n")
        state = os.path.join(d.path, "state")
        command = [os.path.join(BIN, "schedlabctl"), *stand_in(d), "--state-dir", state]
        ours = ["measure", "switch", "--class", "self", "--rounds", "1", "--duration", "1ms"]
        other = ["unshare", "--mount", "sh", "-c", f'mount --bind {theirs} {mine} && exec "$@"', "sh"]
        for _ in range(2):
            for prefix in ([], other):
                subprocess.run([*prefix, *command, *ours], check=True, capture_output=True)
        # Each has its own back when it writes.
        subprocess.run([*command, *ours], check=True, capture_output=True)
        done = subprocess.run([*command, "history", "--json=short", "--kind", "sample"], check=True,
                              capture_output=True, text=True)
        equal(len(done.stdout.splitlines()), 9)
        equal(len(os.listdir(state)), 4)


@test
def a_running_job_is_running_for_who_only_looks():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        client = bus.start_ctl("measure", "switch", "--class", "self", "--duration", "1ms", "--rounds",
                               "20000")
        with Manager(bus) as m:
            wait_for(lambda: len(m.records(kinds=["sample"])) > 2, "some samples")
        done = ctl("--state-dir", bus.state, "history", "--job", "1", "--json=short").json()
        equal((done["state"], "why" in done), ("running", False))
        store = ctl("--state-dir", bus.state, "status", "--json=short").json()["store"]
        contains(store["writer"], f"schedlabd (process {bus.daemon.pid}, ")
        finish(client, signal.SIGINT)


@test
def what_was_overwritten_is_missed():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        measure(bus, "--class", "self", "--rounds", "20")
        stop(bus)
        # Until only some of the job's samples are left, and its end.
        with open(f"{bus.state}/store.ring", "r+b") as file:
            for sequence in range(2, 12):
                file.seek(SUPERBLOCKS + sequence * SLOT)
                file.write(bytes(SLOT))
        bus.start()
        with Manager(bus) as m:
            found = json.loads(m.call("GetJobResult", "t", 1))
        equal((found["store"]["kept"], found["store"]["gone"], found["counts"]["samples"]), (60, 10, 50))


@test
def every_filter_by_the_bus():
    with Bus() as bus:
        refill(bus, 3000, 1 << 20)  # of which the newest 2048 are there
        with Manager(bus) as m:
            everything = m.records()
            equal(len(everything), 2048)
            some = everything[700]
            middle = everything[1000]["time_usec"]
            pair = some["pair"]
            for filters, fits in (
                    ({"since": middle}, lambda r: r["time_usec"] >= middle),
                    ({"until": middle}, lambda r: r["time_usec"] < middle),
                    ({"kinds": ["sample"]}, lambda r: True),
                    ({"kinds": ["job", "verdict"]}, lambda r: False),
                    ({"benchmark": "switch"}, lambda r: True),
                    ({"benchmark": "cacheline"}, lambda r: False),
                    ({"benchmark": "switch:mode=futex"}, lambda r: "mode=futex" in r["spec"]),
                    ({"classes": ["core"]}, lambda r: r["class"] == "core"),
                    ({"classes": ["core", "l3"]}, lambda r: r["class"] in ("core", "l3")),
                    ({"classes": ["cor"]}, lambda r: False),
                    ({"pairs": [pair]}, lambda r: r["pair"] == pair),
                    ({"pairs": [[0, 0], [0, 1]]}, lambda r: r["pair"] in ([0, 0], [0, 1])),
                    ({"arm": 0}, lambda r: True), ({"arm": 1}, lambda r: False),
                    ({"job": some["job"]}, lambda r: r["job"] == some["job"]),
                    ({"experiment": 1}, lambda r: False),
                    ({"fingerprint": "%016x" % 2}, lambda r: r["kernel"].startswith("6.12")),
                    ({"kernel": "6.12.9-amd64"}, lambda r: r["kernel"].startswith("6.12")),
                    ({"kernel": "6.1"}, lambda r: False),
                    ({"kernel": "6.1.*"}, lambda r: r["kernel"].startswith("6.1.")),
                    ({"kernel": "6.1.*", "fingerprint": "%016x" % 2}, lambda r: False),
                    ({"parameters": some["parameters"]}, lambda r: r["spec"] == some["spec"]),
                    ({"classes": ["l3"], "since": middle, "kernel": "6.12*", "benchmark": "switch:mode=pipe"},
                     lambda r: r["class"] == "l3" and r["time_usec"] >= middle and
                     r["kernel"].startswith("6.12") and "mode=pipe" in r["spec"])):
                equal([r["sequence"] for r in m.records(**filters)],
                      [r["sequence"] for r in everything if fits(r)], filters)
            text = json.loads(m.call("DescribeFingerprint", "s", "%016x" % 2))
            equal(text["fields"]["kernel"], everything[-1]["kernel"])
            m.refuses("InvalidArgument", "no fingerprint '12' is kept", "DescribeFingerprint", "s", "12")
            equal({r["failed"] for r in everything}, {None, "the worker ended with status 1"})
            equal({tuple(r["taints"]) for r in everything}, {(), ("disturbed",)})


@test
def bad_questions_are_refused_by_name():
    with Bus() as bus, Manager(bus) as m:
        text = lambda key, value: typed({key: value})
        for filters, error, sentence in (
                (text("bench", "switch"), "InvalidArgument", "there is no option 'bench'; there are: arm, benchmark, classes"),
                (text("benchmark", "swich"), "NoSuchBenchmark", "did you mean 'switch'"),
                (text("benchmark", "switch:mode=x"), "InvalidArgument", "benchmark: "),
                (typed({"classes": [""]}), "InvalidArgument", "is no class's id"),
                (text("fingerprint", "12"), "InvalidArgument", "16 hexadecimal digits"),
                (text("parameters", "g" * 16), "InvalidArgument", "16 hexadecimal digits"),
                (text("kernel", ""), "InvalidArgument", "kernel: it is empty"),
                (typed({"kinds": ["samples"]}), "InvalidArgument", "did you mean 'sample'"),
                (typed({"kinds": []}), "InvalidArgument", "the list is empty"),
                (typed({"classes": []}), "InvalidArgument", "the list is empty"),
                (typed({"pairs": []}), "InvalidArgument", "the list is empty"),
                (typed({"job": 0}), "InvalidArgument", "job: 0 is out of range"),
                (typed({"arm": 65536}), "InvalidArgument", "arm: 65536 is out of range"),
                (typed({"since": 5, "until": 5}), "InvalidArgument", "since-usec is not before"),
                (dbus.Dictionary({"job": "1"}, "sv"), "InvalidArgument", "has type 's' but takes 't'")):
            m.refuses(error, sentence, "QueryPage", "a{sv}tu", filters, 0, 0)
            m.refuses(error, sentence, "Query", "a{sv}", filters)
        m.refuses("InvalidArgument", "limit: 1001 is out of range", "QueryPage", "a{sv}tu", typed({}), 0, 1001)
        for size in (0, 1000, 1 << 40):
            m.refuses("InvalidArgument", "is out of range", "ResizeStore", "t", size)
        # A cursor of another life of the store asks for what is not there.
        equal(m.page(1 << 60), (0, []))


@test
def pages_of_any_size_and_a_pipe_say_the_same():
    with Bus() as bus:
        refill(bus, 2000, 1 << 20)
        with Manager(bus) as m:
            everything = m.records()
            for limit in (1, 7, 999, 1000):
                cursor, page = m.page(limit=limit)
                equal(page, everything[:limit])
                equal(m.page(cursor, limit=limit)[1], everything[limit:2 * limit])
            with m.pipe() as pipe:
                lines = [json.loads(line) for line in pipe]
            equal(lines[-1], {"schema": "schedlab.query-end/1", "records": 2000, "torn": 0})
            equal(lines[:-1], everything)
            with m.pipe(classes=["nowhere"]) as pipe:
                equal([json.loads(line)["records"] for line in pipe], [0])


@test
def a_long_query_while_measuring():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        refill(bus, 60000)
        with Manager(bus) as m:
            pipe = m.pipe()
            first = [json.loads(pipe.readline()) for _ in range(100)]
            # The daemon goes on while a client reads slowly.
            measure(bus, "--class", "self,core", "--rounds", "2")
            rest = [json.loads(line) for line in pipe]
            pipe.close()
            sequences = [r["sequence"] for r in first + rest[:-1]]
            equal(sequences, list(range(1, 60000 + len(sequences) - 60000 + 1)))
            equal(len(sequences) >= 60000, True)
            equal(rest[-1]["records"], len(sequences))
            equal(len(m.records(job=601)), 14)


@test
def who_does_not_read_does_no_harm():
    with Bus() as bus:
        refill(bus, 20000)
        with Manager(bus) as m, Manager(bus) as other:
            pipes = [m.pipe() for _ in range(4)]
            m.refuses("LimitsExceeded", "4 of them yours; at most 16 may, and 4 a client", "Query",
                      "a{sv}", typed({}))
            # Another client has its own, and one that is closed makes room.
            other.pipe().close()
            pipes.pop().close()
            wait_for(lambda: tries(m.pipe), "room for another")
            equal(len(m.page()[1]), 1000)
            for pipe in pipes:
                pipe.close()


def tries(function):
    try:
        function().close()
        return True
    except dbus.DBusException:
        return False


@test
def records_are_told():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        watch = subprocess.Popen(["busctl", "--system", "--json=short", "monitor", "--match",
                                  "type='signal',member='RecordAdded'"], env=bus.env,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        contains(watch.stderr.readline(), "Monitoring")
        measure(bus, "--class", "self", "--rounds", "20")
        with Manager(bus) as m:
            last = m.check()["next_sequence"] - 1
        told = []
        while not told or told[-1] < last:
            told.append(json.loads(watch.stdout.readline())["payload"]["data"][0])
        finish(watch)
        equal(told, sorted(set(told)))
        # Not for each: it would wake whoever listens between any two samples.
        equal(len(told) < last, True)


@test
def kill_after_kill_nothing_whole_is_lost():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        rounds = int(os.environ.get("SCHEDLAB_KILLS", "6"))
        chance = random.Random(7)
        seen, jobs = 0, set()
        for _ in range(rounds):
            client = bus.start_ctl("measure", "switch", "--class", "self", "--duration", "1ms", "--rounds",
                                   "20000")
            with Manager(bus) as m:
                wait_for(lambda: m.check()["next_sequence"] > seen + 3, "records")
                time.sleep(chance.random() / 10)
                before = m.records()
            stop(bus, signal.SIGKILL)
            finish(client)
            bus.start()
            with Manager(bus) as m:
                after, check = m.records(), m.check()
            equal(after[:len(before)], before)
            equal((check["torn"], check["whole"]), (0, len(after)))
            equal([r["sequence"] for r in after], list(range(1, len(after) + 1)))
            equal(after[-1]["lost"], True, "the end of the killed daemon's job")
            new = {r["job"] for r in after[seen:]}
            equal(len(new) == 1 and not new & jobs, True, "each job its own number")
            seen, jobs = len(after), jobs | new


@test
def torn_and_rotten_records_are_counted_and_not_served():
    with Bus() as bus:
        stop(bus)
        fill(bus.state, 1000, 1 << 20)
        with open(f"{bus.state}/store.ring", "r+b") as file:
            for sequence in (5, 100, 999):
                file.seek(SUPERBLOCKS + sequence * SLOT + 230)
                file.write(b"\x55")
            file.seek(SUPERBLOCKS + 1001 * SLOT)  # the next, half written
            file.write(b"\xe9\x03" + bytes(100) + b"half")
        bus.start()
        contains(bus.said(), "store.ring: 4 records were not whole; they are skipped")
        with Manager(bus) as m:
            check = m.check()
            equal((check["torn"], check["whole"]), (4, 997))
            equal({r["sequence"] for r in m.records()}, set(range(1, 1001)) - {5, 100, 999})
            with m.pipe() as pipe:
                equal(json.loads(pipe.readlines()[-1])["torn"], 3)


@test
def what_is_no_store_is_set_aside_aloud():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        stop(bus)
        with open(f"{bus.state}/store.ring", "r+b") as file:
            file.write(bytes(SUPERBLOCKS))
        bus.start()
        contains(bus.said(), "store.ring could not be used, as neither of its superblocks is whole; it is now "
                             "store.ring.set-aside-")
        with Manager(bus) as m:
            measure(bus, "--class", "self", "--rounds", "1")
            equal(len(m.records()), 5)
            aside = m.check()["set_aside"]
            equal([a["bytes"] for a in aside], [os.stat(f"{bus.state}/store.ring").st_size])
            equal(os.stat(f"{bus.state}/{aside[0]['name']}").st_size, aside[0]["bytes"])
        equal(oct(os.stat(f"{bus.state}/store.ring").st_mode & 0o777), "0o640")


@test
def one_superblock_is_enough():
    with Bus() as bus:
        stop(bus)
        fill(bus.state, 10, 1 << 20)
        for at in (0, SUPERBLOCKS // 2):
            with open(f"{bus.state}/store.ring", "r+b") as file:
                file.seek(at + 30)
                file.write(b"rotten")
            bus.start()
            contains(bus.said(), "store.ring was damaged")
            with Manager(bus) as m:
                equal(len(m.records()), 10)
            stop(bus)
        bus.start()


@test
def a_second_daemon_measures_unkept_and_reads():
    with Directory() as d:
        with Bus(*stand_in(d)) as first, Bus(*stand_in(d)) as second:
            stop(second)
            second.state = first.state
            second.start()
            contains(second.said(), f"results are not kept: schedlabd (process {first.daemon.pid}, ")
            measure(first, "--class", "self", "--rounds", "2")
            measure(second, "--class", "self", "--rounds", "1")
            with Manager(second) as m:
                live = json.loads(m.call("GetJobResult", "t", 1))
                equal((live["state"], live["store"]["kept"], live["store"]["unkept"]), ("done", 0, 3))
                contains(live["store"]["why"], "writes this store")
                check = m.check()
                equal(check["writable"], False)
                contains(check["why"], "writes this store")
                equal(check["kinds"], {"sample": 6, "job": 2})
                equal(len(m.records()), 8)
                contains(second.busctl("get-property", NAME, ROOT, MANAGER, "Capabilities").out,
                         "writes this store")
            # When the first has gone, the second takes over with its next measurement.
            stop(first)
            measure(second, "--class", "self", "--rounds", "1")
            contains(second.said(), "results are kept again")
            with Manager(second) as m:
                equal(m.check()["kinds"], {"sample": 9, "job": 4})
            first.daemon = second.daemon


def in_small_place(script, *args):
    """Runs a Python script as root of a mount namespace of its own, with 3 MiB at /mnt."""
    command = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    shell = ('mount -t tmpfs -o size=3M none /mnt && exec "$@"', "sh", "/usr/bin/python3", "-c", script)
    done = subprocess.run([*command, "sh", "-c", *shell, *args], capture_output=True, text=True,
                          timeout=PATIENCE)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise Skip("this machine has no mount namespaces: " + done.stderr.strip())
    equal(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


SMALL = """
import json, os, subprocess, sys
ctl, worker, state, config, lock = sys.argv[1:]
done = subprocess.run([ctl, "--topology", "synthetic:core:2 pu:1", "--worker", worker, "--state-dir", state,
                       "--config", config, "--lock-file", lock, "measure", "switch", "--class", "self",
                       "--rounds", "2", "--duration", "1ms", "--json=short"], capture_output=True, text=True)
print(json.dumps({"err": done.stderr, "status": done.returncode, "result": json.loads(done.stdout),
                  "files": sorted(os.listdir(state)) if os.path.isdir(state) else None}))
"""


@test
def where_there_is_no_room_it_is_measured_all_the_same():
    with Directory() as d:
        worker = stand_in(d)[-1]
        config = d.file("conf", "[store]\nstore-size = 64M\n")
        lock = os.path.join(d.path, "lock")
        found = json.loads(in_small_place(SMALL, os.path.join(BIN, "schedlabctl"), worker, "/mnt/state",
                                          config, lock))
        equal((found["status"], found["result"]["state"]), (0, "done"))
        equal(found["result"]["store"]["unkept"], 4)
        contains(found["result"]["store"]["why"], "cannot make room for the store store.ring: No space left")
        contains(found["err"], "results are not kept: cannot make room")
        equal(found["files"], [], "nothing half made is left")
        config = d.file("conf", "[store]\nstore-size = 2M\n")
        found = json.loads(in_small_place(SMALL, os.path.join(BIN, "schedlabctl"), worker, "/mnt/state",
                                          config, lock))
        equal(found["result"]["store"], {"kept": 4, "unkept": 0, "why": None})


@test
def where_nothing_may_be_written_it_is_measured_all_the_same():
    with Directory() as d:
        arguments = [*stand_in(d), "--state-dir"]
        for state, why in (("/proc/schedlab", "cannot make the directory /proc/schedlab: No such file"),
                           ("/dev/null/x", "Not a directory"),
                           (d.file("plain", ""), "Not a directory")):
            done = ctl(*arguments, state, "measure", "switch", "--class", "self", "--rounds", "1", "--duration",
                       "1ms")
            contains(done.out, "round-trip")
            contains(done.out, "Not kept: 3 of 3 samples, because ")
            contains(done.err + done.out, why)
        # A stand-in's inventions do not go into the history of this machine.
        done = ctl(*arguments[:-1], "measure", "switch", "--class", "self", "--rounds", "1", "--duration", "1ms")
        contains(done.out, "Not kept: 3 of 3 samples, because something stands in for the machine")


@test
def who_may_not_read_is_told_so():
    if os.geteuid() != 0:
        return  # nobody else can be
    with Directory() as d:
        state = os.path.join(d.path, "state")
        fill(state, 10, 1 << 20)
        nobody = {"env": dict(os.environ, HOME="/nonexistent", XDG_STATE_HOME=d.path)}
        for arguments, store in ((["--state-dir", state], "Permission denied"),
                                 (["--state-dir", "/nonexistent/x"], "nothing may be written in /")):
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                   os.path.join(BIN, "schedlabctl"), *arguments, "status", "--json=short"],
                                  capture_output=True, text=True, **nobody)
            contains(json.loads(done.stdout)["store"]["why"], store)


@test
def a_backup_is_put_back_under_a_daemon():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        measure(bus, "--class", "self", "--rounds", "1")
        fill(os.path.join(d.path, "other"), 100, 1 << 20)
        for name in ("store.ring", "side.ring"):
            shutil.copy(os.path.join(d.path, "other", name), bus.state + "/new")
            os.rename(bus.state + "/new", f"{bus.state}/{name}")
        with Manager(bus) as m:
            equal(len(m.records()), 100)
            equal(m.check()["writable"], True)
        measure(bus, "--class", "self", "--rounds", "1")
        with Manager(bus) as m:
            equal(len(m.records()), 105)


@test
def a_store_that_is_taken_away_is_begun_anew():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        measure(bus, "--class", "self", "--rounds", "1")
        os.rename(f"{bus.state}/store.ring", f"{bus.state}/elsewhere")
        measure(bus, "--class", "self", "--rounds", "1")
        contains(bus.said(), "were moved, removed or replaced; what is there now is used")
        with Manager(bus) as m:
            equal({r["job"] for r in m.records()}, {2})


def count(bus):
    with Manager(bus) as m:
        check = m.check()
        return check["slots"], check["whole"], check["oldest_usec"]


@test
def another_size_keeps_the_newest():
    with Directory() as d:
        config = d.file("schedlabd.conf", "[store]\nstore-size = 2M\n")
        with Bus("--config", config) as bus:
            refill(bus, 5000, 2 << 20)
            with Manager(bus) as m:
                before = m.records()
                equal(len(before), 4096)
                m.refuses("InvalidArgument", "the configuration says store-size = 2097152 bytes", "ResizeStore",
                          "t", 4 << 20)
            for size, left in (("4M", 4096), ("1M", 2048), ("1500000", 2048)):
                d.file("schedlabd.conf", f"[store]\nstore-size = {size}\n")
                # What a crash in the middle of it leaves is no obstacle.
                with open(f"{bus.state}/store.ring.new", "w", encoding="utf-8") as file:
                    file.write("left over")
                restart(bus)
                contains(bus.said(), "and now has the configured")
                with Manager(bus) as m:
                    equal(m.records(), before[-left:])
                equal(sorted(os.listdir(bus.state)), ["side.ring", "store.ring"])
            # Without the key it may be changed by a method, and stays so.
            d.file("schedlabd.conf", "")
            restart(bus)
            with Manager(bus) as m:
                m.call("ResizeStore", "t", 3 << 20)
                equal(m.records(), before[-2048:])
            restart(bus)
            equal(count(bus)[:2], (6144, 2048))
            with Manager(bus) as m:
                equal(int(m.call("ClearStore")), 2048)
                equal(m.records(), [])
            restart(bus)
            equal(count(bus), (6144, 0, None))
            d.file("schedlabd.conf", "[store]\nstore-size = 5T\n")
            stop(bus)
            done = subprocess.run([DAEMON, "--config", config], capture_output=True, text=True, env=bus.env)
            equal(done.returncode, 2)
            contains(done.stderr, "store-size")
            d.file("schedlabd.conf", "")
            bus.start()


@test
def the_store_is_not_replaced_under_a_measurement():
    with Directory() as d, Bus(*stand_in(d)) as bus:
        client = bus.start_ctl("measure", "switch", "--class", "self", "--duration", "1ms", "--rounds", "20000")
        with Manager(bus) as m:
            wait_for(lambda: len(m.records()) > 2, "a sample")
            m.refuses("Busy", "and the store's file is not replaced under it", "ClearStore")
            m.refuses("Busy", "and the store's file is not replaced under it", "ResizeStore", "t", 2 << 20)
        finish(client, signal.SIGINT)


@test
def a_backup_is_the_store():
    with Bus() as bus, Directory() as d:
        refill(bus, 3000, 1 << 20)
        with Manager(bus) as m:
            everything = m.records()
            records, size, side, side_size = m.call("BackupStore")
            for fd, name, expected in ((records, "store.ring", size), (side, "side.ring", side_size)):
                with os.fdopen(fd.take(), "rb") as pipe, open(f"{d.path}/{name}", "wb") as out:
                    out.write(pipe.read())
                equal(os.stat(f"{d.path}/{name}").st_size, int(expected))
        stop(bus)
        bus.state = d.path
        bus.start()
        with Manager(bus) as m:
            equal(m.records(), everything)


@test
def memory_does_not_grow_with_the_store():
    if "ASAN_OPTIONS" in os.environ:
        return  # a sanitizer keeps what is freed

    def private(bus):
        with open(f"/proc/{bus.daemon.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

    grown = []
    for size in (1 << 20, 256 << 20):
        with Bus() as bus:
            refill(bus, 3000, size)
            with Manager(bus) as m:
                m.check()
                m.records()
            grown.append(private(bus))
    slots = (256 << 20) // SLOT
    # 8 bytes for each slot of the side file, which has a quarter of the slots; and what a heap varies.
    equal(grown[1] - grown[0] <= (8 * slots // 4 + (1 << 20)) >> 10, True, f"{grown} KiB")


if __name__ == "__main__":
    run()
