#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""history and store as their users type them, with invented results and a filled store."""

import csv
import io
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from storekit import fill, stand_in
from tap import BIN, Directory, contains, ctl, equal, run, test

MEASURE = ("measure", "switch", "--duration", "1ms", "--rounds", "3")


class Place:
    """A store of one's own."""

    def __enter__(self):
        self.d = Directory().__enter__()
        self.state = os.path.join(self.d.path, "state")
        self.arguments = [*stand_in(self.d), "--state-dir", self.state]
        return self

    def __exit__(self, *unused):
        self.d.__exit__()

    def ctl(self, *args, status=0):
        return ctl(*self.arguments, *args, status=status)

    def lines(self, *args):
        return [json.loads(line) for line in self.ctl("history", "--json=short", *args).out.splitlines()]


@test
def csv_and_json_say_what_was_measured():
    with Place() as p:
        measured = p.ctl(*MEASURE, "--class", "self,unpinned", "--json=short").json()
        rows = list(csv.DictReader(io.StringIO(p.ctl("history", "--csv").out)))
        for row in measured["rows"]:
            pair = [str(c) for c in row["pair"] or ["", ""]]
            for metric, figures in row["metrics"].items():
                values = [float(r["value"]) for r in rows if r["class"] == row["class"] and
                          r["metric"] == metric and [r["waker"], r["wakee"]] == pair]
                equal(values, figures["values"], metric)
        equal(len(p.lines("--kind", "sample")), measured["counts"]["samples"])
        equal([r["state"] for r in p.lines("--kind", "job")], ["running", "done"])
        jobs = [r for r in csv.DictReader(io.StringIO(p.ctl("history", "--csv", "--kind", "job").out))]
        equal([(r["job"], r["state"]) for r in jobs], [("1", "running"), ("1", "done")])
        equal(p.ctl("history", "--job", "1", "--json=short").json(), measured)


@test
def what_measure_showed_is_shown_again():
    with Place() as p:
        shown = p.ctl(*MEASURE, "--class", "core,self").out
        contains(shown, "Kept as job 1.\n")
        again = p.ctl("history", "--job", "1").out
        equal(again, "Job 1: done\n\n" + shown)


@test
def lists_and_lines():
    with Place() as p:
        for _ in range(2):
            p.ctl(*MEASURE, "--class", "core,self,l3")
        equal({r["class"] for r in p.lines("--class", "core,self", "--class", "die")}, {"core", "self"})
        pairs = [r["pair"] for r in p.lines("--kind", "sample")]
        a, b = (f"{q[0]}-{q[1]}" for q in (pairs[0], next(q for q in pairs if q != pairs[0])))
        equal(len({tuple(r["pair"]) for r in p.lines("--pair", a, "--pair", b)}), 2)
        table = p.ctl("history", "--by", "job", "--class", "core").out
        equal(len(re.findall(r"round-trip +9 ", table)), 2)
        equal(len(re.findall(r"round-trip +18 ", p.ctl("history", "--class", "core").out)), 1)
        jobs = p.ctl("history", "--kind", "job").out.splitlines()
        equal(jobs[0].split(), ["JOB", "BEGAN", "TOOK", "STATE", "WHAT", "WHY"])
        equal([line.split()[0] for line in jobs[1:]], ["1", "2"])


@test
def bad_input_is_refused_by_name():
    with Place() as p:
        for arguments, sentence in (
                (("--job", "1", "--job", "2"), "--job is given twice"),
                (("--since", "now", "--since", "-1d"), "--since is given twice"),
                (("--by", "pair"), "--by: 'pair' is not known; accepted are class and job"),
                (("--class", "l3,,core"), "holds an empty name"),
                (("--benchmark", "swich"), "did you mean 'switch'"),
                (("--kind", "samples"), "did you mean 'sample'"),
                (("--since", "soon"), "'soon'"),
                (("--csv", "--json=short"), "exclude each other"),
                (("--job", "7"), "nothing is kept of a job 7")):
            contains(p.ctl("history", *arguments, status=2).err, sentence)
        contains(p.ctl("history").out, "nothing has been kept yet")
        p.ctl(*MEASURE, "--class", "self")
        contains(p.ctl("history", "--kernel", "6.1").out, "nothing kept fits; kept are 9 samples")
        contains(p.ctl("history", "--kernel", "6.1").out, "a pattern like '6.1*'")


@test
def a_store_is_looked_after():
    with Place() as p:
        fill(p.state, 5000, 4 << 20)
        contains(p.ctl("store").out, "records       5000 of at most 8192: 5000 samples\n  torn          0\n")
        refused = p.ctl("store", "resize", "2M", status=2).err
        contains(refused, "this removes the oldest 904 of 5000 records")
        contains(p.ctl("store", "resize", "2M", "--yes").out, "4096 records of at most 4096; 904 removed")
        equal(len(p.lines()), 4096)
        contains(p.ctl("store", "clear", status=2).err, "removes all 4096 records")
        contains(p.ctl("store", "clear", "--yes").out, "removed 4096 records")
        equal(p.lines(), [])
        os.unlink(os.path.join(p.state, "side.ring"))
        fill(p.state, 10)
        os.unlink(os.path.join(p.state, "side.ring"))
        contains(p.ctl("store").out, "side file     missing or unreadable")


@test
def a_backup_comes_back_as_it_says():
    with Place() as p:
        fill(p.state, 3000, 1 << 20)
        before = p.lines()
        for name in ("my store.tar", "it's.tar.gz"):
            path = os.path.join(p.d.path, name)
            said = p.ctl("store", "backup", path).out
            equal(os.stat(path).st_mode & 0o777, 0o600)
            contains(p.ctl("store", "backup", path, status=2).err, "exists already")
            subprocess.run(["rm", "-rf", p.state], check=True)
            command = said.split("To put it back: ")[1].strip()
            subprocess.run(["sh", "-c", command], check=True)
            equal(p.lines(), before)


@test
def times_and_kernels():
    with Place() as p:
        fill(p.state, 3000, 2 << 20)
        week = p.lines("--since", "-1d")
        equal(1400 <= len(week) <= 1440, True, len(week))
        equal({r["kernel"].split("-")[0] for r in p.lines("--kernel", "6.12*")}, {"6.12.9"})
        table = p.ctl("history", "--class", "self", "--benchmark", "switch:mode=pipe").out
        contains(table, "Fingerprint 0000000000000001: kernel 6.1.0-28-amd64")
        contains(table, "Fingerprint 0000000000000002: kernel 6.12.9-amd64")
        # Two specs, two tables; two kernels, two lines.
        both = p.ctl("history", "--class", "self").out
        equal((both.count("METRIC"), both.count("self ")), (2, 4))
        done = subprocess.run(f"{BIN}/schedlabctl --state-dir {p.state} history --csv | head -n 2", shell=True,
                              capture_output=True, text=True)
        equal((len(done.stdout.splitlines()), done.stderr), (2, ""))


if __name__ == "__main__":
    run()
