#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The store in trouble: it is said, nothing is served wrong, and measuring goes on."""

import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from storekit import MANAGER, NAME, ROOT, SLOT, SUPERBLOCKS, Manager, fill, measure, refill, restart, stand_in, stop
from tap import (BIN, DAEMON, PATIENCE, Bus, Directory, Skip, contains, ctl, equal, finish, own_mounts, run, test,
                 wait_for)


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
        raise Skip("who is not root has one machine id")
    with Directory() as d:
        theirs = d.file("other-id", "0123456789abcdef0123456789abcdef\n")
        state = os.path.join(d.path, "state")
        command = [os.path.join(BIN, "schedlabctl"), *stand_in(d), "--state-dir", state]
        ours = ["measure", "switch", "--class", "self", "--rounds", "1", "--duration", "1ms"]
        other = [*own_mounts(), "sh", "-c", f'mount --bind {theirs} {mine} && exec "$@"', "sh"]
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
    shell = ('mount -t tmpfs -o size=3M none /mnt && exec "$@"', "sh", "/usr/bin/python3", "-c", script)
    done = subprocess.run([*own_mounts(), "sh", "-c", *shell, *args], capture_output=True, text=True,
                          timeout=PATIENCE)
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
        raise Skip("nobody else can be")
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
def memory_does_not_grow_with_the_store():
    if "ASAN_OPTIONS" in os.environ:
        raise Skip("a sanitizer keeps what is freed; the debug build runs this")

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
