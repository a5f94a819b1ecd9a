#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""schedlabctl --standalone: what a newcomer types, and what a newcomer mistypes."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
from tap import (BIN, CTL, DAEMON, PATIENCE, WORKER, Directory, Skip, children, contains, ctl, equal,
                 is_alive, run, test, wait_for)

CPUS = sorted(os.sched_getaffinity(0))


@test
def versions_and_help_of_every_program():
    for program in (CTL, DAEMON, WORKER):
        name = os.path.basename(program)
        out = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        equal(out.stdout.split()[0], name)
        out = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
        contains(out.stdout, name)
    equal(ctl("help").out, ctl("--help").out)
    for verb in ("status", "topology", "benchmarks", "measure", "jobs"):
        contains(ctl(verb, "--help").out, f"schedlabctl {verb}")


@test
def topology_of_this_machine():
    done = ctl("topology", "--json=short").json()
    equal(done["schema"], "schedlab.topology/1")
    equal(done["cpu_lists"]["measured"] != "", True)
    ids = [c["id"] for c in done["classes"]]
    equal(ids[-1], "unpinned")
    equal(ids[0].startswith("self"), True)
    usable = [c["cpu"] for c in done["cpus"] if c["usable"]]
    pairs = sum(c["n_pairs"] for c in done["classes"]
                if not c["id"].startswith("self") and c["id"] != "unpinned")
    equal(pairs, len(usable) * (len(usable) - 1) // 2)
    equal(len(done["fingerprint"]["id"]), 16)
    text = ctl("topology").out
    for part in ("processor", "kernel", "CLASS", "REPRESENTATIVES", done["fingerprint"]["id"]):
        contains(text, part)


@test
def topology_respects_the_affinity():
    # A client that may use one CPU only has a daemon that may use one CPU only.
    done = subprocess.run(["taskset", "-c", str(CPUS[0]), CTL, "--standalone", "topology",
                           "--json=short"], capture_output=True, text=True, check=True)
    equal(json.loads(done.stdout)["cpu_lists"]["measured"], str(CPUS[0]))


@test
def topology_of_other_machines():
    with Directory() as d:
        done = ctl("topology", "--topology", d.machine("power9-bigcore"), "--json=short").json()
        equal({c["id"]: c["n_pairs"] for c in done["classes"]},
              {"self": 96, "l1": 144, "core": 192, "package": 1920, "numa-40": 2304,
               "unpinned": 0})
        l1 = [c for c in done["classes"] if c["id"] == "l1"][0]
        equal(l1["shares"], ["core", "l1", "l2", "l3", "package", "node"])
        text = ctl("topology", "--topology", d.machine("intel-hybrid")).out
        for part in ("l3:P-E", "P: CPU 0-11", "E: CPU 12-19"):
            contains(text, part)
        text = ctl("topology", "--topology", d.machine("llc-wrong")).out
        contains(text, "DIFFERS from the last cache level on 8 CPUs")
        contains(text, "CPU 0: scheduler 0-7, hardware 0-3")
        text = ctl("topology", "--topology", d.machine("isolated")).out
        contains(text, "CPU 2-3,10-11 (left out unless named)")
    done = ctl("topology", "--topology", "synthetic:package:2 l3:1 core:2 pu:1", "--json=short")
    equal(done.json()["counts"]["cpus"], 4)


@test
def a_copy_has_the_kernel_of_its_machine():
    with Directory() as d:
        tree = d.machine("vm2")
        for text, kernel in (
                ("Linux version 6.1.0-9 (me@there) (gcc 12) #1 SMP Debian 6.1.27-1 (2023)\n",
                 "6.1.0-9 #1 SMP Debian 6.1.27-1 (2023)"),
                ("Linux version 6.1\n", "Linux version 6.1"), ("other #1\n", "other #1")):
            with open(os.path.join(tree, "proc/version"), "w", encoding="utf-8") as file:
                file.write(text)
            done = ctl("--topology", tree, "topology", "--json=short").json()
            equal(done["fingerprint"]["fields"]["kernel"], kernel)


@test
def guests_of_other_architectures_are_known_as_such():
    power = "processor\t: 0\ncpu\t\t: POWER9\n\nplatform\t: %s\nmachine\t\t: made up\n"
    arm = "processor\t: 0\nCPU part\t: 0xd07\n"
    compatible = "sys/firmware/devicetree/base/compatible"
    for cpuinfo, tree, says in (
            (power % "pSeries", "ibm,pseries\0", "PowerVM or another that runs partitions"),
            (power % "pSeries", "qemu,pseries\0", "QEMU, KVM or another of their kind"),
            (power % "PowerNV", "ibm,powernv\0", None),
            (arm, "linux,dummy-virt\0", "QEMU, KVM or another of their kind"),
            (arm, "maker,board\0maker,chip\0", None)):
        with Directory() as d:
            machine = d.machine("single")
            d.file("machine-single/proc/cpuinfo", cpuinfo)
            d.file("machine-single/" + compatible, tree)
            done = ctl("--topology", machine, "topology", "--json=short").json()
            equal(done["hypervisor"], says, (cpuinfo, tree))


@test
def topology_from_xml():
    with Directory() as d:
        path = d.file("m.xml", XML)
        done = ctl("topology", "--topology", path, "--json=short").json()
        equal([c["id"] for c in done["classes"]], ["self", "l2", "package", "unpinned"])


XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f"
  allowed_cpuset="0x0000000f" nodeset="0x00000001" complete_nodeset="0x00000001"
  allowed_nodeset="0x00000001" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f"
   nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f"
    nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="1073741824"/>
   <object type="L2Cache" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001"
    complete_nodeset="0x00000001" gp_index="4" cache_size="1048576" depth="2"
    cache_linesize="64" cache_associativity="8" cache_type="0">
    <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001"
     nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
    <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002"
     nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="6"/>
   </object>
   <object type="L2Cache" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000001"
    complete_nodeset="0x00000001" gp_index="7" cache_size="1048576" depth="2"
    cache_linesize="64" cache_associativity="8" cache_type="0">
    <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004"
     nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="8"/>
    <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008"
     nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="9"/>
   </object>
  </object>
 </object>
</topology>
"""


@test
def other_machines_are_not_measured():
    done = ctl("--topology", "synthetic:core:2 pu:1", "measure", status=2)
    contains(done.err, "describes another machine")
    contains(ctl("--topology", "synthetic:core:2 pu:1", "status").out, "measure: unavailable")


@test
def measures_and_prints_a_table():
    done = ctl("measure", "switch", "--class", "self", "--rounds", "2", "--duration", "20ms")
    for part in ("CLASS", "SHARES", "PAIRS", "PAIR", "MEDIAN", "SPREAD", "UNIT", "round-trip",
                 "switches/s", "switch:mode=pipe,as=process,state=none"):
        contains(done.out, part)


@test
def json_holds_every_number():
    done = ctl("measure", "switch:mode=futex", "--class", "self", "--rounds", "3", "--duration",
               "20ms", "--seed", "7", "--json=short").json()
    equal(done["schema"], "schedlab.measure/1")
    equal(done["state"], "done")
    equal(done["options"], {"duration_usec": 20000, "warm_up_usec": 50000, "rounds": 3, "seed": 7,
                            "cpus": None})
    equal(done["counts"]["samples"], 3 * len(done["rows"]))
    for row in done["rows"]:
        metric = row["metrics"]["round-trip"]
        equal(metric["unit"], "ns")
        equal(len(metric["values"]), 3)
        equal(sorted(metric["values"])[1], metric["median"])
        equal(metric["min"] <= metric["median"] <= metric["max"], True)
        equal(row["pair"][0], row["pair"][1])
    short = ctl("benchmarks", "--json=short").out
    equal(json.loads(ctl("benchmarks", "--json=pretty").out), json.loads(short))
    equal(short.count("\n"), 1)


@test
def one_seed_one_choice():
    first, second = (ctl("measure", "switch", "--class", "self", "--rounds", "1", "--duration",
                         "5ms", "--pairs-per-class", "1", "--seed", "11", "--json=short").json()
                     for _ in range(2))
    equal([r["pair"] for r in first["rows"]], [r["pair"] for r in second["rows"]])


@test
def every_mode_measures():
    for mode in ("pipe", "futex", "eventfd", "yield", "sem"):
        for kind in ("process", "thread"):
            spec = f"switch:mode={mode},as={kind}"
            done = ctl("measure", spec, "--pair", f"{CPUS[0]}-{CPUS[0]}", "--rounds", "1",
                       "--duration", "50ms", "--json=short").json()
            metrics = done["rows"][0]["metrics"]
            # Two by construction; more where others run on this CPU too. A yield that finds nobody
            # better, or somebody else, is no switch to the other task.
            real = metrics["real-switches"]["median"]
            equal((1.99 < real or mode == "yield") and real < 3, True,
                  f"{spec}: {real} switches a round trip")
            equal("wake-call" in metrics, mode != "yield")
    for state in ("fp", "vector"):
        ctl("measure", f"switch:state={state}", "--pair", f"{CPUS[0]}-{CPUS[0]}", "--rounds", "1",
            "--duration", "10ms")


@test
def two_cpus_and_none():
    if len(CPUS) < 2:
        raise Skip("this machine has one CPU")
    pair = f"{CPUS[0]}-{CPUS[1]}"
    done = ctl("measure", "cacheline", "switch", "--pair", pair, "--rounds", "1", "--duration",
               "30ms", "--json=short").json()
    equal([r["pair"] for r in done["rows"]], [[CPUS[0], CPUS[1]]] * 2)
    done = ctl("measure", "switch", "--class", "unpinned", "--rounds", "1", "--duration", "30ms",
               "--json=short").json()
    equal(done["rows"][0]["pair"], None)


@test
def only_the_cpus_asked_for():
    done = ctl("measure", "switch", "--cpus", str(CPUS[-1]), "--rounds", "1", "--duration", "5ms",
               "--json=short").json()
    equal([r["pair"] for r in done["rows"]], [[CPUS[-1], CPUS[-1]], None])


@test
def what_can_run_nowhere_is_refused_only_if_named():
    one_cpu = ["taskset", "-c", str(CPUS[0]), CTL, "--standalone", "measure", "--rounds", "1",
               "--duration", "5ms", "--json=short"]
    done = subprocess.run(one_cpu + ["cacheline"], capture_output=True, text=True)
    equal((done.returncode, done.stdout), (2, ""))
    contains(done.stderr, "cacheline")
    contains(done.stderr, "two CPUs")
    done = subprocess.run(one_cpu, capture_output=True, text=True, check=True)
    equal([b["name"] for b in json.loads(done.stdout)["benchmarks"]], ["switch"])
    done = ctl("measure", "--class", "self,unpinned", "--pairs-per-class", "1", "--rounds", "1",
               "--duration", "5ms", "--json=short").json()
    equal([(r["benchmark"], r["class"]) for r in done["rows"]], [(0, "self"), (0, "unpinned")])
    equal([b["name"] for b in done["benchmarks"]], ["switch"])
    equal([(o["benchmark"], o["class"]) for o in done["left_out"]],
          [("cacheline:node=waker", "self"), ("cacheline:node=waker", "unpinned")])
    out = ctl("measure", "--class", "self,unpinned", "--rounds", "1", "--duration", "5ms").out
    equal(out.count("Left out: cacheline needs two CPUs"), 1, out)


@test
def a_terminal_gets_the_users_pager():
    for pager, says in (("sed s/^/paged:/", "paged:Machine ("), ("", "Machine ("),
                        ("/nonexistent/pager", "Machine (")):
        out = at_a_terminal(["topology", "--topology", "synthetic:core:2 pu:1"], pager)
        contains(out, "\n" + says)
    # Results come after a wait; there they stay.
    out = at_a_terminal(["measure", "switch", "--class", "self", "--rounds", "1", "--duration",
                         "5ms"], "sed s/^/paged:/")
    contains(out, "round-trip")
    equal("paged:" in out, False, out)


def at_a_terminal(args, pager):
    command = [CTL, "--standalone"] + args
    env = dict(os.environ, PAGER=pager, TERM="xterm")
    outer, inner = pty.openpty()
    process = subprocess.Popen(command, stdout=inner, stderr=subprocess.DEVNULL, env=env)
    os.close(inner)
    out = b""
    while True:
        try:
            some = os.read(outer, 65536)
        except OSError:  # nobody has the terminal open any more
            break
        if not some:
            break
        out += some
    os.close(outer)
    equal(process.wait(timeout=PATIENCE), 0)
    return "\n" + out.decode().replace("\r", "")


@test
def yield_runs_on_one_cpu_only():
    done = ctl("measure", "switch:mode=yield", "--rounds", "1", "--duration", "10ms",
               "--json=short").json()
    equal({r["class"].split(":")[0] for r in done["rows"]}, {"self"})
    contains(ctl("measure", "switch:mode=yield", "--class", "unpinned", status=2).err,
             "needs both tasks on one CPU")
    contains(ctl("measure", "cacheline", "--class", "self", status=2).err,
             "cacheline needs two CPUs")


@test
def bad_input_is_refused_by_name():
    for args, says in (
            ((), "name a verb"),
            (("mesure",), "there is no verb 'mesure'; did you mean 'measure'?"),
            (("topology", "x"), "'x' is not expected"),
            (("--jsno", "topology"), "there is no option '--jsno' here; did you mean '--json'?"),
            (("measure", "--round=3", "--rouns", "3"), "did you mean '--rounds'?"),
            (("measure", "--rounds"), "option '--rounds' wants a value"),
            (("--json=yaml", "topology"), "'yaml' is no mode; there are: off, short, pretty"),
            (("measure", "swich"), "no benchmark 'swich'; did you mean 'switch'?"),
            (("measure", "switch:mod=pipe"), "no option 'mod'; did you mean 'mode'?"),
            (("measure", "switch:mode=pip"), "mode=pip is not a value; did you mean 'pipe'?"),
            (("measure", "switch:mode=pipe,mode=futex"), "option 'mode' of benchmark 'switch' is given twice"),
            (("measure", "switch:mode=pipe,futex"), "mode=pipe,futex is not a value"),
            (("measure", "switch:pipe"), "'pipe' is no option of benchmark 'switch'"),
            (("measure", "switch:"), "'' is no option of benchmark 'switch'"),
            (("measure", ""), "no benchmark ''"),
            (("measure", "switch", "switch"), "'switch' is asked for twice"),
            (("measure", "cacheline:node=77"), "there is no such NUMA node"),
            (("measure", "--class", "selv"), "; did you mean 'self'?"),
            (("measure", "--class", "self,"), "holds an empty name"),
            (("measure", "--class", "self,self", "switch"), "is asked for twice"),
            (("measure", "--pair", "0"), "'0' is not a pair of CPUs"),
            (("measure", "--pair", "0-99999"), "is not a pair of CPUs"),
            (("measure", "--pair", "0-60000", "switch"), "CPU 60000 cannot be measured: not present"),
            (("measure", "--pair", "0-0", "--class", "self"), "name classes or pairs, not both"),
            (("measure", "--cpus", "0-"), "'0-' is not a CPU list"),
            (("measure", "--cpus", ""), "the list is empty"),
            (("measure", "--cpus", str(CPUS[0]), "--class", "l3"),
             f"no pair class 'l3' among CPU {CPUS[0]}; there are: self, unpinned\n"
             "'schedlabctl --standalone topology' lists"),
            (("measure", "--cpus", "60000"), "not all of CPU 60000 can be measured"),
            (("measure", "--duration", "0"), "0 is out of range"),
            (("measure", "--duration", "fast"), "'fast' is not a time"),
            (("measure", "--rounds", "0"), "0 is out of range"),
            (("measure", "--rounds", "100001"), "100001 is out of range"),
            (("measure", "--rounds", "-1"), "'-1' is not a whole number; accepted is 1 to 100000"),
            (("measure", "--seed", "9007199254740993"), "seed: 9007199254740993 is out of range"),
            (("measure", "--pairs-per-class", "65"), "65 is out of range"),
            (("measure", "--detach"), "a standalone daemon ends with this program"),
            (("jobs", "sow"), "'sow' is no action; did you mean 'show'?"),
            (("jobs", "show"), "wants the number of one job"),
            (("jobs", "show", "1"), "there is no job 1"),
            (("jobs", "show", "x"), "'x' is not a whole number"),
            (("--topology", "/nonexistent", "topology"), "cannot use /nonexistent"),
            (("--topology", "/nonexistent.xml", "topology"), "there is no regular file /nonexistent.xml"),
            (("--topology", "", "topology"), "the topology is named by an empty text"),
            (("--topology", "synthetic:", "topology"), "'' is not a synthetic topology"),
            (("--config", "/nonexistent", "topology"), "cannot read /nonexistent"),
            (("-xj", "topology"), "there is no option '-x' here"),
            (("measure", "-xj"), "there is no option '-x' here"),
            (("measure", "--c", "0"), "option '--c' may be one of --class, --cpus, --config; write it out"),
            (("measure", "--detach=3"), "option '--detach' takes no value"),
            (("measure", b"sw\xff"), "benchmark 1 is not UTF-8 text"),
            (("measure", "--class", b"self,\xff"), "class 2 is not UTF-8 text"),
            (("measure", "--cpus", b"\xff"), "--cpus list 1 is not UTF-8 text"),
            (("--config", "/", "topology"), "/ is not a regular file"),
            (("--user", "status"), "--standalone and --user"),
            (("-H", "there", "status"), "--standalone and --host"),
    ):
        done = ctl(*args, status=None)
        equal(done.status, 2, f"{args}: {done.err}")
        contains(done.err, says)
        equal(done.out, "", f"{args} printed")


@test
def configuration_is_checked():
    with Directory() as d:
        path = d.file("schedlabd.conf", "[measure]\nrounds = 1\nduration = 5ms\n")
        done = ctl("--config", path, "measure", "switch", "--class", "self", "--json=short").json()
        equal((done["options"]["rounds"], done["options"]["duration_usec"]), (1, 5000))
        for text, says in (("[measure]\nround = 1\n", ":2: no key 'round' in [measure]; did you mean 'rounds'?"),
                           ("[measur]\n", ":1: no section [measur]; did you mean 'measure'?"),
                           ("[measure]\nrounds = many\n", ":2: rounds: 'many' is not a whole number"),
                           ("[measure]\nrounds = 1\nrounds = 2\n", ":3: 'rounds' in [measure] is given twice"),
                           ("rounds = 1\n", ":1: a key before the first [section]")):
            contains(ctl("--config", d.file("bad.conf", text), "status", status=2).err, says)


@test
def output_that_cannot_be_written_is_a_failure():
    by_hand = [WORKER, "switch", "--duration", "5ms", "--warm-up", "0"]
    for command in ([CTL, "--help"], [CTL, "--version"], [CTL, "measure", "--help"],
                    [CTL, "--standalone", "topology"], [DAEMON, "--help"], [DAEMON, "--version"],
                    [WORKER, "--help"], by_hand):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        equal(done.returncode, 1, command)
        contains(done.stderr, "No space left on device")
    done = subprocess.run(by_hand, capture_output=True, text=True, check=True)
    equal(json.loads(done.stdout)["memory_node"], None)


@test
def few_descriptors_are_a_sentence():
    # What cannot be opened must not look as if it were not there.
    done = subprocess.run(["prlimit", "--nofile=7", CTL, "--standalone", "topology"],
                          capture_output=True, text=True)
    equal((done.returncode, done.stdout), (1, ""))
    contains(done.stderr, "only 7 files may be open at a time; 64 are needed")
    done = subprocess.run(["prlimit", "--nofile=8:1000", CTL, "--standalone", "topology"],
                          capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)


@test
def a_descriptor_for_the_bus_must_be_a_socket():
    for fd in ("99", "0"):
        done = subprocess.run([DAEMON, "--bus-fd", fd], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
        equal(done.returncode, 2)
        contains(done.stderr, f"--bus-fd: {fd} is no open socket")


@test
def trees_that_end_hwloc_are_refused():
    with Directory() as d:
        tree = d.machine("vm2")
        online = os.path.join(tree, "sys/devices/system/node/online")
        for text in ("4294967295", "99999", "garbage"):
            with open(online, "w", encoding="utf-8") as file:
                file.write(text)
            contains(ctl("--topology", tree, "topology", status=2).err, "node/online")
        os.unlink(online)
        os.mkdir(online)
        contains(ctl("--topology", tree, "topology", status=2).err, "node/online")


@test
def a_lock_file_that_is_none_is_refused():
    with Directory() as d:
        path = os.path.join(d.path, "lock")
        for make in (os.mkfifo, os.mkdir, lambda p: os.symlink("/dev/null", p)):
            make(path)
            done = ctl("--lock-file", path, "measure", "switch", status=1)
            contains(done.err, path)
            if os.path.isdir(path):
                os.rmdir(path)
            else:
                os.unlink(path)


@test
def interrupt_cancels_and_says_so():
    process = subprocess.Popen([CTL, "--standalone", "measure", "switch", "--duration", "20ms",
                                "--rounds", "10000"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(children(p) for p in children(process.pid)), "a worker")
    daemons = children(process.pid)
    first = children(daemons[0])
    wait_for(lambda: children(daemons[0]) not in ([], first), "the worker after the first")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1)
    contains(err, "cancelling job ")
    contains(err, "was cancelled: a client asked for its end")
    # What was measured until then is shown.
    contains(out, "round-trip")
    equal([p for p in daemons if is_alive(p)], [])


@test
def nothing_is_left_when_the_client_is_killed():
    process = subprocess.Popen([CTL, "--standalone", "measure", "--rounds", "10000"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: any(children(w) for p in children(process.pid) for w in children(p)),
             "tasks of a worker")
    tree = [process.pid]
    for pid in tree:
        tree += children(pid)
    process.kill()
    process.wait()
    wait_for(lambda: not any(is_alive(p) for p in tree), "the end of daemon, worker and tasks")


@test
def nothing_is_left_of_a_daemon_that_explores():
    # hwloc takes minutes over this one.
    process = subprocess.Popen([CTL, "--topology", "synthetic:pu:65536", "topology"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: any(was_executed(p) for p in children(process.pid)), "the daemon")
    daemon = children(process.pid)[0]
    process.kill()
    process.wait()
    wait_for(lambda: not is_alive(daemon), "the end of the daemon")


@test
def a_client_that_went_before_is_noticed():
    ours, theirs = socket.socketpair()
    ours.close()
    done = subprocess.run([DAEMON, "--bus-fd", str(theirs.fileno()), "--topology",
                           "synthetic:pu:65536"], pass_fds=[theirs.fileno()], capture_output=True,
                          text=True, timeout=PATIENCE)
    equal((done.returncode, done.stderr), (1, "schedlabd: the client has gone\n"))


def was_executed(pid):
    """A spawned process is a copy of its parent first."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(DAEMON)
    except OSError:
        return False


@test
def nothing_is_left_when_the_daemon_is_killed():
    process = subprocess.Popen([CTL, "--standalone", "measure", "--rounds", "10000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(children(w) for p in children(process.pid) for w in children(p)),
             "tasks of a worker")
    tree = list(children(process.pid))
    for pid in tree:
        tree += children(pid)
    os.kill(tree[0], signal.SIGKILL)
    _, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1)
    contains(err, "the daemon died")
    wait_for(lambda: not any(is_alive(p) for p in tree), "the end of worker and tasks")


@test
def two_measurements_at_a_time_are_refused():
    with Directory() as d:
        lock = os.path.join(d.path, "lock")
        first = subprocess.Popen([CTL, "--lock-file", lock, "measure", "--rounds", "10000"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: any(children(p) for p in children(first.pid)), "a worker")
        done = ctl("--lock-file", lock, "measure", status=1)
        contains(done.err, "is measuring on this machine")
        contains(done.err, "schedlabd (process")
        # Reading goes on.
        ctl("--lock-file", lock, "topology")
        first.terminate()
        first.wait(timeout=PATIENCE)
        ctl("--lock-file", lock, "measure", "switch", "--class", "self", "--rounds", "1",
            "--duration", "5ms")


@test
def no_privilege_is_needed():
    if os.getuid() != 0:
        raise Skip("the tests run without privilege anyway")
    # The programs are copied to where anybody may run them.
    with Directory() as d:
        for name in ("schedlabctl", "schedlabd", "schedlab-worker"):
            path = os.path.join(d.path, name)
            with open(os.path.join(BIN, name), "rb") as program:
                data = program.read()
            with open(path, "wb") as copy:
                copy.write(data)
            os.chmod(path, 0o755)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", f"{d.path}/schedlabctl",
             "--standalone", "measure", "--rounds", "1", "--duration", "5ms", "--json=short"],
            capture_output=True, text=True, timeout=PATIENCE, cwd="/")
        equal(done.returncode, 0, done.stderr)
        equal(json.loads(done.stdout)["counts"]["failed"], 0)


run()
