#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The fake kernel: the checks that a real one passes too, and every fault that it can have."""

import errno
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tools"))
from fakekernel import FakeKernel, as_nobody
from tap import CTL, Directory, contains, ctl, equal, run, test, wait_for

SCHED = "/sys/kernel/debug/sched/"
FEATURES = SCHED + "features"
DISABLE = "/sys/devices/system/cpu/cpu1/cpuidle/state2/disable"


def conforms(kernel, *mode):
    with open(os.path.join(HERE, "conformance.py"), encoding="utf-8") as file:
        source = file.read()
    done = as_nobody("/usr/bin/python3", "-", kernel.root, *mode, input=source)
    equal(done.returncode, 0, done.stdout + done.stderr)


def write(kernel, path, text):
    """None, or the name of the error."""
    try:
        fd = os.open(kernel.path(path), os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


@test
def it_does_as_linux_6_1():
    with FakeKernel("guest") as kernel:
        conforms(kernel)


@test
def it_does_as_linux_6_12():
    with FakeKernel("guest", "--kernel", "6.12") as kernel:
        conforms(kernel)


@test
def it_does_as_linux_under_lockdown():
    for version in ("6.1", "6.12"):
        with FakeKernel("guest", "--lockdown", "--kernel", version) as kernel:
            conforms(kernel, "locked")
            kernel.control("lockdown none")
            contains(kernel.read(FEATURES), "TTWU_QUEUE")


@test
def older_places_and_other_drivers():
    with FakeKernel("guest", "--old-path", "--no-idle") as kernel:
        contains(kernel.read("/sys/kernel/debug/sched_features"), "TTWU_QUEUE")
        contains(kernel.read("/proc/sched_debug"), ".sysctl_sched_features")
        equal(os.path.exists(kernel.path(FEATURES)), False)
        equal(kernel.read("/sys/devices/system/cpu/cpuidle/current_driver"), "none\n")
        equal(os.path.exists(kernel.path(DISABLE)), False)
    with FakeKernel("guest", "--haltpoll") as kernel:
        # The device goes with its CPU and comes back new.
        disable = "/sys/devices/system/cpu/cpu1/cpuidle/state1/disable"
        equal(write(kernel, disable, "1"), None)
        kernel.control("wake 1 5 1000")
        kernel.control("offline 1")
        equal(os.path.exists(kernel.path(disable)), False)
        kernel.control("online 1")
        equal(kernel.read(disable), "0\n")
        equal(kernel.read(disable.replace("disable", "usage")), "0\n")


@test
def who_may_write():
    with FakeKernel("guest", owner=0) as kernel:
        # Files of root: nobody reads those of sysfs, and does not come into debugfs.
        for path, what in ((FEATURES, "cat"), (DISABLE, "tee")):
            done = as_nobody(what, kernel.path(path), input="1")
            equal(done.returncode, 1)
            contains(done.stderr, "Permission denied")
        equal(as_nobody("cat", kernel.path(DISABLE)).stdout, "0\n")
        equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), None)
    with FakeKernel("guest") as kernel:
        equal(as_nobody("tee", kernel.path(FEATURES), input="NO_TTWU_QUEUE").returncode, 0)
        equal(kernel.writes(), [(FEATURES, "NO_TTWU_QUEUE")])


@test
def errors_on_request():
    with FakeKernel("guest") as kernel:
        for name in ("EIO", "ENOSPC", "EPERM", "EBUSY", "EROFS"):
            kernel.control(f"fault {FEATURES} write {name} 1")
            equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), name)
            contains(kernel.read(FEATURES), " TTWU_QUEUE ")
            equal(write(kernel, FEATURES, "TTWU_QUEUE"), None)
        # Readers do not meet it, and do not use it up.
        kernel.control(f"fault {FEATURES} open EROFS 1")
        contains(kernel.read(FEATURES), " TTWU_QUEUE ")
        equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), "EROFS")
        # What is for all files is not for the control file.
        kernel.control("fault * write EIO")
        equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), "EIO")
        kernel.control("clear")
        kernel.control("fault /sys/kernel/debug/* open EROFS")
        equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), "EROFS")
        contains(kernel.read(FEATURES), " TTWU_QUEUE ")
        equal(write(kernel, DISABLE, "1"), None)
        kernel.control("clear")
        equal(write(kernel, FEATURES, "NO_TTWU_QUEUE"), None)
        kernel.control(f"fault {FEATURES} read EIO 1")
        try:
            kernel.read(FEATURES)
            raise AssertionError("it could be read")
        except OSError as e:
            equal(e.errno, errno.EIO)
        contains(kernel.read(FEATURES), "NO_TTWU_QUEUE")
        try:
            kernel.control("fault /no/such/file write EIO")
            raise AssertionError("a pattern that fits nothing is taken")
        except OSError as e:
            equal(e.errno, errno.ENOENT)
        for bad in ("fault", "offline foo", "offline cpu3", "wake cpu3 1 1", "wake 3 x y", "clear now",
                    f"text {FEATURES} x", "set /dev/cpu_dma_latency 5", f"fault {FEATURES} write EIO 1 2",
                    f"fault {FEATURES} write EBOGUS", f"fault {FEATURES} look EIO", "bogus",
                    "block x", "set x", f"fault {FEATURES} write EIO x", f"unstick {FEATURES} 0", "foreign x 1", "wake 1", "lockdown full"):
            try:
                kernel.control(bad)
                raise AssertionError(f"{bad} is taken")
            except OSError as e:
                equal(e.errno, errno.EINVAL, bad)


@test
def a_write_that_blocks_blocks_nobody_else():
    with FakeKernel("guest") as kernel:
        kernel.control(f"block {FEATURES} 2000 1")
        start = time.monotonic()
        writer = threading.Thread(target=write, args=(kernel, FEATURES, "NO_TTWU_QUEUE"))
        writer.start()
        equal(write(kernel, DISABLE, "1"), None)
        contains(kernel.read(FEATURES), " TTWU_QUEUE ")
        others = time.monotonic() - start
        writer.join()
        equal(time.monotonic() - start >= 2 > others, True, f"{others}")
        contains(kernel.read(FEATURES), "NO_TTWU_QUEUE")


@test
def a_value_that_does_not_stick():
    with FakeKernel("guest") as kernel:
        kernel.control(f"unstick {DISABLE} 1")
        equal(write(kernel, DISABLE, "1"), None)
        equal(kernel.read(DISABLE), "0\n")
        equal(write(kernel, DISABLE, "1"), None)
        equal(kernel.read(DISABLE), "1\n")
        # It is not a write that changed anything.
        equal(kernel.writes(), [(DISABLE, "1")])


@test
def a_file_that_vanishes():
    with FakeKernel("guest") as kernel:
        fd = os.open(kernel.path(FEATURES), os.O_RDWR)
        kernel.control(f"vanish {FEATURES}")
        equal(os.path.exists(kernel.path(FEATURES)), False)
        equal("features" in os.listdir(kernel.path(SCHED)), False)
        for action in (lambda: os.read(fd, 10), lambda: os.write(fd, b"TTWU_QUEUE")):
            try:
                action()
                raise AssertionError("what has vanished answers")
            except OSError as e:
                equal(e.errno, errno.EIO)
        kernel.control(f"appear {FEATURES}")
        contains(kernel.read(FEATURES), "TTWU_QUEUE")
        # It is another file now.
        try:
            os.read(fd, 10)
            raise AssertionError("what has vanished answers")
        except OSError as e:
            equal(e.errno, errno.EIO)
        os.close(fd)
        # What has vanished does not come back with a CPU.
        topology = "/sys/devices/system/cpu/cpu2/topology"
        kernel.control("vanish " + topology)
        kernel.control("offline 3")
        kernel.control("online 3")
        equal(os.path.exists(kernel.path(topology)), False)
        kernel.control("vanish /sys/kernel/debug")
        equal(os.path.exists(kernel.path(FEATURES)), False)


@test
def others_write_too():
    with FakeKernel("guest") as kernel:
        kernel.control(f"set {DISABLE} 1")
        equal(kernel.read(DISABLE), "1\n")
        equal(kernel.writes(), [], "a foreign write is nobody's here")
        kernel.control(f"foreign {FEATURES} 5 NO_TTWU_QUEUE TTWU_QUEUE")
        for name in (" NO_TTWU_QUEUE ", " TTWU_QUEUE ", " NO_TTWU_QUEUE "):
            wait_for(lambda name=name: name in kernel.read(FEATURES), name)
        kernel.control("foreign stop")
        text = kernel.read(FEATURES)
        time.sleep(0.05)
        equal(kernel.read(FEATURES), text)


@test
def machines_that_begin_with_a_cpu_offline():
    with FakeKernel("offline-zero") as kernel:
        equal(kernel.read("/sys/devices/system/cpu/online"), "1-7\n")
        equal(os.path.exists(kernel.path("/sys/devices/system/cpu/cpu0/topology")), False)
        equal(write(kernel, "/sys/devices/system/cpu/cpu0/online", "1"), None)
        equal(kernel.read("/sys/devices/system/cpu/online"), "0-7\n")


@test
def other_texts_and_the_log():
    with FakeKernel("guest") as kernel:
        kernel.control("text /proc/sys/kernel/random/boot_id 1234-5678")
        equal(kernel.read("/proc/sys/kernel/random/boot_id"), "1234-5678\n")
        kernel.control("text /proc/sys/kernel/random/boot_id 9")
        equal(kernel.read("/proc/sys/kernel/random/boot_id"), "9\n")
        fd = os.open(kernel.path("/dev/cpu_dma_latency"), os.O_RDWR)
        os.write(fd, (256).to_bytes(4, "little"))
        os.close(fd)
        equal(kernel.writes(), [("/dev/cpu_dma_latency", "256")])


@test
def nothing_is_made_or_removed():
    with FakeKernel("guest") as kernel:
        for action, name in (
                (lambda: os.mkdir(kernel.path("/new")), "EPERM"),
                (lambda: os.unlink(kernel.path(FEATURES)), "EPERM"),
                (lambda: os.rename(kernel.path(FEATURES), kernel.path("/new")), "EPERM"),
                (lambda: os.open(kernel.path("/new"), os.O_CREAT | os.O_WRONLY), "EACCES")):
            try:
                action()
                raise AssertionError("it was done")
            except OSError as e:
                equal(errno.errorcode[e.errno], name)


@test
def our_programs_see_a_machine():
    with FakeKernel("guest") as kernel:
        found = ctl("--root", kernel.root, "topology", "--json=short").json()
        equal({c["id"]: c["n_pairs"] for c in found["classes"]},
              {"self": 8, "core": 4, "l3": 8, "numa-21": 16, "unpinned": 0})
        kernel.control("offline 3")
        found = ctl("--root", kernel.root, "topology", "--json=short").json()
        equal(found["cpu_lists"]["online"], "0-2,4-7")
        equal({c["id"]: c["n_pairs"] for c in found["classes"]},
              {"self": 7, "core": 3, "l3": 6, "numa-21": 12, "unpinned": 0})
        # As nobody, whose programs lie where everybody may run them.
        with Directory() as d:
            for name in ("schedlabctl", "schedlabd", "schedlab-worker"):
                copy(os.path.join(os.path.dirname(CTL), name), d.path)
            done = as_nobody(os.path.join(d.path, "schedlabctl"), "--standalone", "--root",
                             kernel.root, "topology")
            equal(done.returncode, 0, done.stderr)
            contains(done.stdout, "numa-21")


def copy(program, directory):
    path = os.path.join(directory, os.path.basename(program))
    with open(program, "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    os.chmod(path, 0o755)


@test
def four_thousand_cpus():
    with FakeKernel("huge") as kernel:
        equal(kernel.read("/sys/devices/system/cpu/online"), "0-4095\n")
        found = ctl("--root", kernel.root, "topology", "--json=short").json()
        equal(found["counts"]["cpus"], 4096)
        kernel.control("offline 4095")
        equal(kernel.read("/sys/devices/system/cpu/online"), "0-4094\n")


run()
