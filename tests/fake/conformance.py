#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One set of checks for the fake kernel and for a real one: where they differ the fake is wrong.

    conformance.py /                 in a virtual machine, as root
    conformance.py MOUNT             on a mounted fake kernel, as its owner
    conformance.py (/|MOUNT) locked  the same two under lockdown=integrity

Everything is put back. It needs 8 CPUs with idle states POLL, C1, C2, C3.
"""

import errno
import os
import struct
import sys
import threading
import time

ROOT = sys.argv[1].rstrip("/")
IS_FAKE = os.path.exists(ROOT + "/.control")
SCHED = ROOT + "/sys/kernel/debug/sched/"
CPU = ROOT + "/sys/devices/system/cpu/"
FEATURES = SCHED + "features"
LATENCY = ROOT + "/dev/cpu_dma_latency"
NOBODY = 2000000000

_checks = {"usual": [], "locked": []}


def check(function):
    _checks["usual"].append(function)
    return function


def check_locked(function):
    _checks["locked"].append(function)
    return function


def equal(got, expected, what=""):
    assert got == expected, f"{what}: expected {expected!r}, got {got!r}"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, data, flags=os.O_WRONLY):
    """What write(2) returns, or the name of its error (or open's)."""
    data = data if isinstance(data, bytes) else data.encode()
    try:
        fd = os.open(path, flags)
    except OSError as e:
        return "open: " + errno.errorcode[e.errno]
    try:
        return os.write(fd, data)
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)


def mode(path):
    return oct(os.stat(path).st_mode & 0o777)


def control(line):
    with open(ROOT + "/.control", "w", encoding="utf-8") as file:
        file.write(line + "\n")


def wake(cpu, times, slept_us):
    """Wakes a CPU so often, each time after a sleep of about that long."""
    if IS_FAKE:
        control(f"wake {cpu} {times} {slept_us}")
        return

    def sleep():
        os.sched_setaffinity(0, {cpu})
        for _ in range(times):
            time.sleep(slept_us / 1e6)

    thread = threading.Thread(target=sleep)
    thread.start()
    thread.join()


class Kept:
    """Puts the text of a file back."""

    def __init__(self, path):
        self.path, self.text = path, read(path)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        write(self.path, self.text)


@check
def features_are_one_line_of_names():
    text = read(FEATURES)
    equal(text[-2:], " \n")
    equal(text.count("\n"), 1)
    names = text[:-2].split(" ")
    equal(len(names), len(set(names)))
    for name in ("TTWU_QUEUE", "NONTASK_CAPACITY", "NO_NEXT_BUDDY"):
        equal(name in names, True, name)
    equal(mode(FEATURES), "0o644")


@check
def features_take_one_name():
    def now():
        return [n for n in read(FEATURES).split() if n in ("TTWU_QUEUE", "NO_TTWU_QUEUE")]

    for data, result, value in (
            ("NO_TTWU_QUEUE", 13, "NO_TTWU_QUEUE"), ("TTWU_QUEUE\n", 11, "TTWU_QUEUE"),
            ("  NO_TTWU_QUEUE \n", 17, "NO_TTWU_QUEUE"), ("NO_TTWU_QUEUE", 13, "NO_TTWU_QUEUE"),
            ("\tTTWU_QUEUE\0junk", 16, "TTWU_QUEUE"),
            ("BOGUS", "EINVAL", "TTWU_QUEUE"), ("", 0, "TTWU_QUEUE"), ("\n", "EINVAL", "TTWU_QUEUE"),
            ("NO_", "EINVAL", "TTWU_QUEUE"), ("no_ttwu_queue", "EINVAL", "TTWU_QUEUE"),
            ("NO_NO_TTWU_QUEUE", "EINVAL", "TTWU_QUEUE"), ("NO_TTWU_QUEUE WA_IDLE", "EINVAL", "TTWU_QUEUE"),
            ("NO_TTWU_QUEU", "EINVAL", "TTWU_QUEUE"), ("NO_TTWU_QUEUE,", "EINVAL", "TTWU_QUEUE"),
            ("NO_TTWU_QUEUE" + " " * 100, 63, "NO_TTWU_QUEUE"), ("TTWU_QUEUE" + " " * 53, 63, "TTWU_QUEUE"),
            ("X" * 64, "EINVAL", "TTWU_QUEUE"), (" " * 60 + "NO_TTWU_QUEUE", "EINVAL", "TTWU_QUEUE")):
        if data == "":
            continue  # write(2) of nothing does not reach the file everywhere
        equal(write(FEATURES, data), result, repr(data))
        equal(now(), [value], repr(data))
    equal(write(FEATURES, "NO_TTWU_QUEUE", os.O_WRONLY | os.O_TRUNC), 13)
    equal(write(FEATURES, "TTWU_QUEUE", os.O_WRONLY | os.O_APPEND), 10)


@check
def several_writes_on_one_descriptor():
    fd = os.open(FEATURES, os.O_RDWR)
    os.write(fd, b"NO_WA_IDLE")
    os.write(fd, b"NO_WA_BIAS")
    os.lseek(fd, 0, os.SEEK_SET)
    text = os.read(fd, 4096).decode().split()
    equal(("NO_WA_IDLE" in text, "NO_WA_BIAS" in text), (True, True))
    os.write(fd, b"WA_IDLE")
    os.write(fd, b"WA_BIAS")
    os.close(fd)
    text = read(FEATURES).split()
    equal(("WA_IDLE" in text, "WA_BIAS" in text), (True, True))


def mask():
    for line in read(SCHED + "debug").splitlines():
        if ".sysctl_sched_features" in line:
            return int(line.split(":")[1])
    return None


@check
def the_mask_tells_the_same():
    equal(mode(SCHED + "debug"), "0o444")
    names = read(FEATURES).split()
    equal(mask(), sum(1 << i for i, n in enumerate(names) if not n.startswith("NO_")), "mask")
    bit = names.index("TTWU_QUEUE")
    before = mask()
    write(FEATURES, "NO_TTWU_QUEUE")
    equal(before - mask(), 1 << bit, "the bit")
    write(FEATURES, "TTWU_QUEUE")
    equal(mask(), before)


@check
def numbers_are_cut_and_text_is_refused():
    path = SCHED + "migration_cost_ns"
    with Kept(path):
        for data, result, value in (
                ("7", 1, "7"), ("8\n", 2, "8"), ("0x10", 4, "16"), ("010", 3, "8"), ("+9", 2, "9"),
                ("4294967295", 10, "4294967295"), ("4294967297", 10, "1"), ("5", 1, "5"),
                ("abc", "EINVAL", "5"), ("-1", "EINVAL", "5"), (" 6", "EINVAL", "5"),
                ("6 ", "EINVAL", "5"), ("6\n\n", "EINVAL", "5"), ("99999999999999999999", "ERANGE", "5")):
            equal(write(path, data), result, repr(data))
            equal(read(path), value + "\n", repr(data))


@check
def knobs_and_their_modes():
    found = [n for n in os.listdir(SCHED) if n.endswith("_ns")]
    equal("migration_cost_ns" in found, True)
    for name in found + ["nr_migrate", "tunable_scaling", "preempt", "verbose", "latency_warn_ms",
                         "latency_warn_once", "numa_balancing/scan_size_mb"]:
        equal(mode(SCHED + name), "0o644", name)
    equal(mode(ROOT + "/sys/kernel/debug"), "0o700")


@check
def numbers_know_no_positions():
    path = SCHED + "migration_cost_ns"
    with Kept(path):
        fd = os.open(path, os.O_RDWR)
        for action in (lambda: os.pread(fd, 1, 0), lambda: os.pwrite(fd, b"5", 0),
                       lambda: os.lseek(fd, 0, os.SEEK_SET)):
            try:
                action()
                equal(True, False, "it has positions")
            except OSError as e:
                equal(errno.errorcode[e.errno], "ESPIPE")
        os.close(fd)
        equal(write(path, "0" * 30 + "5"), 31)
        equal(read(path), "0\n", "23 characters are heeded")
    fd = os.open(state(1, 3, "latency"), os.O_RDONLY)
    equal(os.pread(fd, 10, 1), b"00\n")
    os.close(fd)


@check
def what_is_written_is_read_on_the_same_descriptor():
    path = SCHED + "migration_cost_ns"
    with Kept(path):
        fd = os.open(path, os.O_RDWR)
        os.write(fd, b"77")
        equal(os.read(fd, 100), b"77\n")
        os.close(fd)
    fd = os.open(LATENCY, os.O_RDWR)
    os.write(fd, struct.pack("i", 77))
    equal(os.read(fd, 4), struct.pack("i", 77))
    os.close(fd)


def error_of(action):
    try:
        action()
        return None
    except OSError as e:
        return errno.errorcode[e.errno]


@check
def what_hotplug_makes_anew_is_another_file():
    with Kept(SCHED + "verbose"):
        write(SCHED + "verbose", "Y")
        paths = [state(1, 2, "disable"), CPU + "cpu1/topology/core_id",
                 SCHED + "domains/cpu0/domain1/imbalance_pct"]
        fds = [os.open(p, os.O_RDONLY) for p in paths]
        replug()
        equal([error_of(lambda fd=fd: os.read(fd, 10)) for fd in fds], ["ENODEV", "ENODEV", "EIO"])
        for fd in fds:
            os.close(fd)
        for path in paths:
            equal(error_of(lambda path=path: read(path)), None, path)


@check
def tunable_scaling_has_three_values():
    path = SCHED + "tunable_scaling"
    with Kept(path):
        for data, result, value in (("0", 1, "0"), ("2\n", 2, "2"), ("3", "EINVAL", "2"),
                                    ("-1", "EINVAL", "2"), ("x", "EINVAL", "2"), ("1", 1, "1")):
            equal(write(path, data), result, repr(data))
            equal(read(path), value + "\n", repr(data))


@check
def preempt_is_one_of_its_names():
    path = SCHED + "preempt"
    text = read(path)
    names = text.replace("(", "").replace(")", "").split()
    now = text[text.index("(") + 1:text.index(")")]
    other = "full" if now != "full" else "voluntary"
    equal(text, "".join(f"({n}) " if n == now else f"{n} " for n in names) + "\n")
    for bad in ("sometimes", "full voluntary", "full x"):
        equal(write(path, bad), "EINVAL", bad)
    equal(write(path, other + "\n"), len(other) + 1)
    equal(f"({other})" in read(path), True)
    equal(write(path, now), len(now))
    equal(read(path), text)


@check
def verbose_heeds_only_what_is_a_bool():
    path = SCHED + "verbose"
    domains = SCHED + "domains"
    always = os.path.exists(domains + "/cpu0")
    with Kept(path):
        for data, value in (("Y", "Y"), ("n\n", "N"), ("1", "Y"), ("off", "N"), ("on", "Y"), ("0", "N")):
            equal(write(path, data), len(data), repr(data))
            equal(read(path), value + "\n", repr(data))
            equal(os.path.exists(domains + "/cpu0"), always or value == "Y", repr(data))


@check
def domains_are_numbers_with_flags():
    with Kept(SCHED + "verbose"):
        write(SCHED + "verbose", "Y")
        base = SCHED + "domains/cpu0/domain"
        equal([read(f"{base}{i}/name").strip() for i in range(3)], ["SMT", "MC", "NUMA"])
        equal(mode(base + "0/flags"), "0o444")
        equal(mode(base + "0/imbalance_pct"), "0o644")
        equal([read(f"{base}{i}/imbalance_pct").strip() for i in range(3)], ["110", "117", "117"])
        flags = [read(f"{base}{i}/flags").split() for i in range(3)]
        for flag, where in (("SD_SHARE_CPUCAPACITY", [0]), ("SD_NUMA", [2])):
            equal([i for i in range(3) if flag in flags[i]], where, flag)
        shared = "SD_SHARE_LLC" if "SD_SHARE_LLC" in flags[0] else "SD_SHARE_PKG_RESOURCES"
        equal([i for i in range(3) if shared in flags[i]], [0, 1], shared)
        path = base + "1/imbalance_pct"
        equal(write(path, "125"), 3)
        equal(read(path), "125\n")
        equal(write(path, "x"), "EINVAL")
        write(path, "117")


def state(cpu, i, name):
    return f"{CPU}cpu{cpu}/cpuidle/state{i}/{name}"


@check
def idle_states_and_their_files():
    equal([read(state(1, i, "name")).strip() for i in range(4)], ["POLL", "C1", "C2", "C3"])
    equal(os.path.exists(state(1, 4, "name")), False)
    for name, text in (("latency", "300\n"), ("residency", "600\n"), ("default_status", "enabled\n"),
                       ("desc", "ACPI HLT\n"), ("power", "0\n"), ("disable", "0\n")):
        equal(read(state(1, 3, name)), text, name)
    for name in ("above", "below", "desc", "latency", "name", "power", "rejected", "residency", "time",
                 "usage", "default_status"):
        equal(mode(state(1, 1, name)), "0o444", name)
    equal(mode(state(1, 1, "disable")), "0o644")
    equal(read(CPU + "cpuidle/current_driver"), "acpi_idle\n")
    equal(write(state(1, 1, "usage"), "0"), "open: EACCES")


@check
def disable_takes_any_number():
    path = state(3, 2, "disable")
    for data, result, value in (
            ("1", 1, "1"), ("0\n", 2, "0"), ("2", 1, "1"), ("0", 1, "0"), ("0x10", 4, "1"), ("0", 1, "0"),
            ("x", "EINVAL", "0"), ("-1", "EINVAL", "0"), ("1 1", "EINVAL", "0"), ("yes", "EINVAL", "0"),
            ("4294967296", "ERANGE", "0")):
        equal(write(path, data), result, repr(data))
        equal(read(path), value + "\n", repr(data))


def usage(cpu):
    return [int(read(state(cpu, i, "usage"))) for i in range(4)]


@check
def a_disabled_state_is_not_entered_again():
    wake(3, 20, 5000)
    before = usage(3)
    wake(3, 20, 5000)
    after = usage(3)
    equal(after[3] - before[3] > 0, True, f"C3 is used: {before} {after}")
    for i in (2, 3):
        write(state(3, i, "disable"), "1")
    try:
        wake(3, 2, 5000)  # whoever slept there has left
        before = usage(3)
        wake(3, 20, 5000)
        after = usage(3)
        equal([after[i] - before[i] for i in (2, 3)], [0, 0], "C2 and C3")
        equal(after[1] - before[1] > 0, True, f"C1 is used instead: {before} {after}")
    finally:
        for i in (2, 3):
            write(state(3, i, "disable"), "0")
    wake(3, 2, 5000)
    before = usage(3)
    wake(3, 20, 5000)
    equal(usage(3)[3] > before[3], True, "C3 is used again")


@check
def sleep_is_booked_when_it_ends():
    wake(3, 1, 1000)
    before = [int(read(state(3, i, "time"))) for i in range(4)]
    wake(3, 5, 20000)
    after = [int(read(state(3, i, "time"))) for i in range(4)]
    equal(sum(after) - sum(before) >= 4 * 15000, True, f"{before} {after}")


@check
def governors():
    path = CPU + "cpuidle/current_governor"
    names = read(CPU + "cpuidle/available_governors").split()
    equal(names, ["ladder", "menu"])
    with Kept(path):
        equal(write(path, "ladder\n"), 7)
        equal(read(path), "ladder\n")
        equal(read(CPU + "cpuidle/current_governor_ro"), "ladder\n")
        equal(write(path, "bogus"), "EINVAL")
        equal(read(path), "ladder\n")
        equal(write(path, " menu junk"), 10)
        equal(read(path), "menu\n")
    equal(read(path), "menu\n")


@check
def dma_latency_is_held_by_its_descriptor():
    def now():
        fd = os.open(LATENCY, os.O_RDONLY)
        value = struct.unpack("i", os.read(fd, 4))[0]
        os.close(fd)
        return value

    equal(mode(LATENCY), "0o600")
    def soon(value, what=""):
        # A fake's descriptor is released a moment after it is closed.
        for _ in range(100):
            if now() == value:
                return
            time.sleep(0.01)
        equal(now(), value, what)

    soon(NOBODY)
    first, second = (os.open(LATENCY, os.O_RDWR) for _ in range(2))
    equal(os.write(first, struct.pack("i", 100)), 4)
    equal(now(), 100)
    equal(os.write(second, b"14"), 2)
    equal(now(), 20, "text is hexadecimal")
    equal(os.write(second, b"1234"), 4)
    equal(now(), 100, "four characters are a binary number: 875770417")
    os.close(first)
    soon(875770417)
    equal(os.write(second, struct.pack("i", -1)), 4)
    equal(now(), NOBODY, "a negative limit is none")
    try:
        os.write(second, b"zz")
        equal(True, False, "text that is no number is taken")
    except OSError as e:
        equal(errno.errorcode[e.errno], "EINVAL")
    os.close(second)
    soon(NOBODY)


@check
def resume_latency_has_words_of_its_own():
    path = CPU + "cpu2/power/pm_qos_resume_latency_us"
    equal(mode(path), "0o644")
    for data, result, value in (
            ("50", 2, "50"), ("0", 1, "0"), ("n/a", 3, "n/a"), ("n/a\n", 4, "n/a"), ("7\n", 2, "7"),
            ("0x10", 4, "16"), ("-1", "EINVAL", "16"), ("n/", "EINVAL", "16"), ("text", "EINVAL", "16"),
            ("2147483647", "EINVAL", "16"), ("0", 1, "0")):
        equal(write(path, data), result, repr(data))
        equal(read(path), value + "\n", repr(data))


def last_cache(cpu):
    directory = f"{CPU}cpu{cpu}/cache/"
    return [directory + n for n in os.listdir(directory)
            if n.startswith("index") and read(directory + n + "/level") == "3\n"][0]


@check
def hotplug_shows_in_lists_and_sets():
    equal(os.path.exists(CPU + "cpu0/online"), False, "CPU 0 cannot go")
    path = CPU + "cpu1/online"
    equal(read(path), "1\n")
    equal(write(path, "x"), "EINVAL")
    write(state(1, 2, "disable"), "1")
    equal(write(path, "0\n"), 2)
    try:
        equal(read(CPU + "online"), "0,2-7\n")
        equal(read(CPU + "offline"), "1\n")
        equal(read(path), "0\n")
        equal(os.path.exists(CPU + "cpu1/topology/core_id"), False, "topology")
        equal(os.path.exists(CPU + "cpu1/cache/index0/level"), False, "cache")
        equal(read(CPU + "cpu0/topology/thread_siblings_list"), "0\n")
        equal(read(CPU + "cpu0/topology/package_cpus_list"), "0,2-3\n")
        equal(read(last_cache(2) + "/shared_cpu_list"), "0,2-3\n")
        equal(int(read(CPU + "cpu0/topology/core_siblings").replace(",", ""), 16), 0xd)
        equal(read(ROOT + "/sys/devices/system/node/node0/cpulist"), "0,2-3\n")
        equal(os.path.exists(state(1, 1, "name")), True, "cpuidle stays")
    finally:
        equal(write(path, "1"), 1)
    equal(read(CPU + "online"), "0-7\n")
    equal(read(CPU + "offline"), "\n")
    equal(read(CPU + "cpu0/topology/thread_siblings_list"), "0-1\n")
    equal(read(state(1, 2, "disable")), "1\n", "what was disabled stays so")
    write(state(1, 2, "disable"), "0")


def replug():
    write(CPU + "cpu1/online", "0")
    write(CPU + "cpu1/online", "1")


@check
def hotplug_undoes_what_is_scaled():
    name = "base_slice_ns" if os.path.exists(SCHED + "base_slice_ns") else "latency_ns"
    scaled, plain = SCHED + name, SCHED + "migration_cost_ns"
    before = read(scaled)
    with Kept(plain), Kept(SCHED + "verbose"):
        write(SCHED + "verbose", "Y")
        domain = SCHED + "domains/cpu0/domain1/imbalance_pct"
        write(scaled, "8000000")
        write(plain, "123456")
        write(domain, "150")
        replug()
        equal(read(scaled), before, name)
        equal(read(plain), "123456\n")
        equal(read(domain), "117\n", "imbalance_pct")
        # Unless tunable_scaling is written after it.
        write(scaled, "8000000")
        write(SCHED + "tunable_scaling", "1")
        replug()
        equal(read(scaled), "8000000\n", "after tunable_scaling")
        write(scaled, before)
        write(SCHED + "tunable_scaling", "1")
    equal(read(scaled), before)


def read_error(path):
    try:
        read(path)
        return None
    except OSError as e:
        return errno.errorcode[e.errno]


@check_locked
def what_could_be_written_cannot_even_be_read():
    for name in ("features", "migration_cost_ns", "preempt", "verbose", "tunable_scaling"):
        equal(read_error(SCHED + name), "EPERM", name)
        equal(write(SCHED + name, "1"), "open: EPERM", name)
        equal(mode(SCHED + name), "0o644", name)


@check_locked
def what_is_for_readers_can_be_read():
    equal(mask() > 0, True)
    if os.path.exists(SCHED + "domains/cpu0"):
        equal(read(SCHED + "domains/cpu0/domain0/name"), "SMT\n")
        equal(read_error(SCHED + "domains/cpu0/domain0/imbalance_pct"), "EPERM")


@check_locked
def other_file_systems_know_no_lockdown():
    equal("[integrity]" in read(ROOT + "/sys/kernel/security/lockdown"), True)
    path = state(1, 1, "disable")
    equal((write(path, "1"), read(path), write(path, "0")), (1, "1\n", 1))
    fd = os.open(LATENCY, os.O_RDWR)
    equal(os.write(fd, struct.pack("i", 5)), 4)
    os.close(fd)


def main():
    failed = 0
    checks = _checks[sys.argv[2] if len(sys.argv) > 2 else "usual"]
    for number, function in enumerate(checks, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__.replace('_', ' ')}")
        except Exception as e:  # whatever it was: the check has failed
            failed += 1
            print(f"# {type(e).__name__}: {e}\nnot ok {number} - {function.__name__.replace('_', ' ')}")
        sys.stdout.flush()
    print(f"1..{len(checks)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
