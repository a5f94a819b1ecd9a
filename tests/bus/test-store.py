#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The store through the daemon: what is measured is kept, can be asked for, and survives."""

import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import dbus
from storekit import SLOT, SUPERBLOCKS, Manager, measure, refill, restart, stand_in, stop, typed
from tap import Bus, Directory, contains, ctl, equal, finish, run, test, wait_for


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
            # A sample that failed had no window of any length.
            equal({r["window_usec"] for r in records if r["failed"]}, {None})
            equal([r for r in records if not r["failed"] and not r["window_usec"] > 0], [])
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


if __name__ == "__main__":
    run()
