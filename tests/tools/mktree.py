#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes the /sys and /proc of a machine that is not here.

    mktree.py MACHINE DIR          writes the tree of a named machine
    mktree.py random:SEED DIR      a small machine with random, nested objects
    mktree.py --list               the names

A machine is a list of Cpu rows; what two rows have equal in a column is shared by them, so that all
masks follow from the rows. The shapes are those of real machines, as far as their owners tell.
"""

import os
import random
import sys


class Cpu:
    """One CPU. Columns are anything that can be compared; None: not there."""

    def __init__(self, number, **columns):
        self.number = number
        self.online = True
        self.core = self.cluster = self.die = self.package = self.node = None
        self.l1 = self.l2 = self.l3 = self.frequency = self.freqdomain = self.capacity = None
        self.size = {1: "32K", 2: "1024K", 3: "32768K"}
        self.core_id = self.package_id = 0
        for name, value in columns.items():
            assert hasattr(self, name), name
            setattr(self, name, value)


class Machine:
    def __init__(self, cpus):
        self.cpus = cpus
        self.distances = None  # by node number: {node: [row]}, in order of online nodes
        self.memory_nodes = []
        self.offline_nodes = []
        self.isolated = self.nohz_full = ""
        self.cpuset = None  # a CPU list: the cgroup allows only these
        self.cpuinfo = ("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Made up\n"
                        "flags\t\t: fpu vme\n")
        self.pmus = {}  # "cpu_core": CPU list
        self.old_names = False  # only thread_siblings, core_siblings, masks
        self.files = {}  # any others: path: text
        self.lean = False  # each thing in one file only: for very many CPUs
        self.schedstat = None
        self.debugfs = {}

    def online(self):
        return [c for c in self.cpus if c.online]


def list_text(numbers):
    parts = []
    for n in sorted(numbers):
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts) + "\n"


def mask_text(numbers, width):
    value = 0
    for n in numbers:
        value |= 1 << n
    words = max(1, (width + 31) // 32)
    return ",".join(f"{value >> (32 * i) & 0xffffffff:08x}" for i in reversed(range(words))) + "\n"


class Writer:
    def __init__(self, root):
        self.root = root
        self.made = set()

    def write(self, path, text):
        full = self.root + path
        parent = os.path.dirname(full)
        if parent not in self.made:
            os.makedirs(parent, exist_ok=True)
            self.made.add(parent)
        fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(fd, text.encode())
        os.close(fd)


def groups(cpus, column):
    """{value: numbers} of a column."""
    found = {}
    for c in cpus:
        value = getattr(c, column)
        if value is not None:
            found.setdefault(value, []).append(c.number)
    return found


def write_topology(w, m, width):
    online = m.online()
    sets = {name: {v: (mask_text(n, width), list_text(n)) for v, n in groups(online, name).items()}
            for name in ("core", "cluster", "die", "package")}
    # The kernel keeps the old names beside the new ones.
    first, last = (1 if m.old_names else 0), (1 if m.lean else 2)
    names = {"core": ["core_cpus", "thread_siblings"][first:last],
             "package": ["package_cpus", "core_siblings"][first:last],
             "die": [] if m.old_names else ["die_cpus"],
             "cluster": [] if m.old_names else ["cluster_cpus"]}
    for c in online:
        base = f"/sys/devices/system/cpu/cpu{c.number}/topology/"
        for column, files in names.items():
            value = getattr(c, column)
            if value is None:
                continue
            mask, text = sets[column][value]
            for file in files:
                w.write(base + file, mask)
                if not (m.old_names or m.lean):
                    w.write(base + file + "_list", text)
        w.write(base + "core_id", f"{c.core_id}\n")
        w.write(base + "physical_package_id", f"{c.package_id}\n")


def write_caches(w, m, width):
    online = m.online()
    for c in online:
        index = 0
        for level, column in ((1, "l1"), (2, "l2"), (3, "l3")):
            value = getattr(c, column)
            if value is None:
                continue
            base = f"/sys/devices/system/cpu/cpu{c.number}/cache/index{index}/"
            index += 1
            numbers = m.cache_sets[column][value]
            w.write(base + "level", f"{level}\n")
            w.write(base + "type", "Data\n" if level == 1 else "Unified\n")
            if c.size[level]:
                w.write(base + "size", c.size[level] + "\n")
            w.write(base + "shared_cpu_map", numbers[0])
            if not (m.old_names or m.lean):
                w.write(base + "shared_cpu_list", numbers[1])


def write_frequency(w, m):
    for column, file in (("frequency", "related_cpus"), ("freqdomain", "freqdomain_cpus")):
        for numbers in groups(m.online(), column).values():
            if column == "frequency":
                os.makedirs(f"{w.root}/sys/devices/system/cpu/cpufreq/policy{numbers[0]}",
                            exist_ok=True)
            for n in numbers:
                w.write(f"/sys/devices/system/cpu/cpu{n}/cpufreq/{file}",
                        " ".join(map(str, numbers)) + " \n")


def write_nodes(w, m, width):
    by_node = groups(m.online(), "node")
    online = sorted(set(by_node) - set(m.offline_nodes) | set(m.memory_nodes))
    if not online:
        return
    base = "/sys/devices/system/node/"
    if not m.old_names:
        w.write(base + "online", list_text(online))
        w.write(base + "possible", list_text(online + m.offline_nodes))
    for node in online:
        numbers = by_node.get(node, [])
        w.write(f"{base}node{node}/cpumap", mask_text(numbers, width))
        if not m.old_names:
            w.write(f"{base}node{node}/cpulist", list_text(numbers) if numbers else "\n")
        w.write(f"{base}node{node}/meminfo", f"Node {node} MemTotal:       1048576 kB\n")
        if m.distances:
            w.write(f"{base}node{node}/distance",
                    " ".join(str(m.distances[node][i]) for i in online) + "\n")


def write_cpuset(w, m):
    if m.cpuset is None:
        return
    w.write("/proc/self/cgroup", "0::/limited\n")
    w.write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n")
    w.write("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n")
    w.write("/sys/fs/cgroup/limited/cpuset.cpus.effective", m.cpuset + "\n")
    w.write("/sys/fs/cgroup/limited/cpuset.mems.effective", "0\n")


def write_tree(m, root):
    w = Writer(root)
    width = max(c.number for c in m.cpus) + 1
    online = m.online()
    m.cache_sets = {name: {v: (mask_text(n, width), list_text(n))
                           for v, n in groups(online, name).items()} for name in ("l1", "l2", "l3")}
    base = "/sys/devices/system/cpu/"
    present = [c.number for c in m.cpus]
    offline = [c.number for c in m.cpus if not c.online]
    w.write(base + "online", list_text([c.number for c in online]))
    w.write(base + "offline", list_text(offline) if offline else "\n")
    w.write(base + "present", list_text(present))
    w.write(base + "possible", list_text(range(max(present) + 1)))
    w.write(base + "isolated", m.isolated + "\n")
    w.write(base + "nohz_full", m.nohz_full + "\n")
    for c in m.cpus:
        os.makedirs(f"{root}{base}cpu{c.number}", exist_ok=True)
        if c.capacity is not None:
            w.write(f"{base}cpu{c.number}/cpu_capacity", f"{c.capacity}\n")
    write_topology(w, m, width)
    write_caches(w, m, width)
    write_frequency(w, m)
    write_nodes(w, m, width)
    write_cpuset(w, m)
    w.write("/proc/cpuinfo", m.cpuinfo)
    w.write("/proc/meminfo", "MemTotal:        4194304 kB\n")
    for name, cpus in m.pmus.items():
        w.write(f"/sys/devices/{name}/cpus", cpus + "\n")
    if m.schedstat:
        w.write("/proc/schedstat", m.schedstat)
    for path, text in list(m.debugfs.items()) + list(m.files.items()):
        w.write(path, text)


# The machines. In rows, a tuple says "this object of that one".


def bigcore(caches_of_small_core):
    """POWER9 or POWER10 under SMT8 firmware: big cores of {0,2,4,6} and {1,3,5,7}."""
    cpus = []
    for n in range(96):
        big, small = n // 8, (n // 8, n % 2)
        inner = small if caches_of_small_core else big
        cpus.append(Cpu(n, core=big, l1=small, l2=inner, l3=inner, package=n // 48,
                        node=8 * (n // 48), core_id=8 * big, package_id=8 * (n // 48)))
    m = Machine(cpus)
    m.distances = {0: {0: 10, 8: 40}, 8: {0: 40, 8: 10}}
    m.cpuinfo = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nrevision\t: 2.3 (pvr 004e 1203)\n"
    return m


def kunpeng920():
    """96 CPUs: clusters of 4 inside an L3 of 24, two of those a package; odd ids."""
    cpus = [Cpu(n, core=n, l1=n, l2=n, cluster=n // 4, l3=n // 24, package=n // 48, node=n // 24,
                core_id=65535, package_id=(36, 2468)[n // 48]) for n in range(96)]
    m = Machine(cpus)
    rows = ((10, 12, 20, 22), (12, 10, 22, 24), (20, 22, 10, 12), (22, 24, 12, 10))
    m.distances = {i: dict(enumerate(row)) for i, row in enumerate(rows)}
    m.cpuinfo = "processor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n"
    return m


def epyc(nodes_each):
    """Two sockets of 64 cores, L3 for 8 cores, siblings n and n + 128; NPS1 or NPS4."""
    cpus = []
    for n in range(256):
        core = n % 128
        cpus.append(Cpu(n, core=core, l1=core, l2=core, l3=core // 8, package=core // 64,
                        die=core // 64, node=core * nodes_each // 64, core_id=core % 64,
                        package_id=core // 64))
    m = Machine(cpus)
    count = 2 * nodes_each
    m.distances = {i: {j: 10 if i == j else 12 if i // nodes_each == j // nodes_each else 32
                       for j in range(count)} for i in range(count)}
    m.cpuinfo = ("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763\n"
                 "flags\t\t: fpu vme\n")
    return m


def intel_hybrid(capacities):
    """6 P cores with SMT, 8 E cores in modules of 4; told by PMUs, or by cpu_capacity alone."""
    cpus = []
    for n in range(12):
        cpus.append(Cpu(n, core=n // 2, l1=n // 2, l2=n // 2, cluster=n // 2, l3=0, package=0,
                        node=0, core_id=n // 2 * 4, frequency=n))
    for n in range(12, 20):
        cpus.append(Cpu(n, core=n, l1=n, l2=("e", n // 4), cluster=("e", n // 4), l3=0, package=0,
                        node=0, core_id=n + 12, frequency=n))
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    if capacities:
        for c in cpus:
            # Favoured cores differ a little from their like.
            c.capacity = (1024 if c.number < 4 else 1009) if c.number < 12 else 606
    else:
        m.pmus = {"cpu_core": "0-11", "cpu_atom": "12-19"}
    return m


def big_little():
    """4 little and 4 big cores, an L2 each, no SMT; ids of -1."""
    cpus = [Cpu(n, core=n, l1=n, l2=n // 4, package=0, node=0, capacity=(446, 1024)[n // 4],
                core_id=-1, package_id=-1, frequency=n // 4) for n in range(8)]
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    m.cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n"
    return m


def gb10():
    """Two core types whose capacities are told as five."""
    capacity = [718, 718, 718, 718, 731] * 2 + [997, 1017, 1017, 1017, 1024] * 2
    cpus = [Cpu(n, core=n, l1=n, l2=n, cluster=n // 10, l3=n // 10, package=0, node=0,
                capacity=capacity[n]) for n in range(20)]
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    m.cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd85\n"
    return m


def snc(l3_of_package):
    """Two sockets in two NUMA nodes each, 8 cores a node; the L3 listed by node or by socket."""
    cpus = []
    for n in range(64):
        core = n % 32
        cpus.append(Cpu(n, core=core, l1=core, l2=core, l3=core // (16 if l3_of_package else 8),
                        package=core // 16, node=core // 8, core_id=core % 16,
                        package_id=core // 16))
    m = Machine(cpus)
    m.distances = {i: {j: 10 if i == j else 12 if i // 2 == j // 2 else 21 for j in range(4)}
                   for i in range(4)}
    return m


def vm2():
    """A guest with 2 vCPUs and no caches at all."""
    m = Machine([Cpu(n, core=n, package=0, node=0) for n in range(2)])
    m.distances = {0: {0: 10}}
    m.cpuinfo = m.cpuinfo.replace("vme", "vme hypervisor")
    return m


def guest():
    """The guest that tests/vm boots: 2 sockets, each a node, of 2 cores of 2 threads."""
    m = Machine([Cpu(n, core=n // 2, l1=n // 2, l2=n // 2, l3=n // 4, package=n // 4, node=n // 4,
                     core_id=n // 2 % 2, package_id=n // 4) for n in range(8)])
    m.distances = {0: [10, 21], 1: [21, 10]}
    m.cpuinfo = m.cpuinfo.replace("fpu vme", "fpu vme hypervisor")
    return m


def huge():
    """4096 CPUs: 16 packages of 16 L3 of 8 cores of 2 threads."""
    cpus = []
    for n in range(4096):
        core = n % 2048
        cpus.append(Cpu(n, core=core, l1=core, l2=core, l3=core // 8, package=core // 128,
                        node=core // 128, core_id=core % 128, package_id=core // 128, frequency=n))
    m = Machine(cpus)
    m.distances = {i: {j: 10 if i == j else 20 + 10 * (i // 4 != j // 4) for j in range(16)}
                   for i in range(16)}
    return m


def sparse():
    """CPUs 0-15 and 88-103, SMT4, L2 of 8; nodes 0 and 8, GPU memory at 252-255."""
    cpus = [Cpu(n, core=n // 4, l1=n // 4, l2=n // 8, l3=n // 8, package=n // 88, node=n // 88 * 8)
            for n in list(range(16)) + list(range(88, 104))]
    m = Machine(cpus)
    m.memory_nodes = [252, 253, 254, 255]
    nodes = [0, 8, 252, 253, 254, 255]
    m.distances = {i: {j: 10 if i == j else 40 if max(i, j) < 250 else 80 for j in nodes}
                   for i in nodes}
    m.old_names = True
    return m


def offline_zero():
    """CPU 0 and NUMA node 0 are offline: the CPUs of node 0 have none."""
    cpus = [Cpu(n, core=n, l1=n, l2=n, l3=n // 4, package=n // 4, node=n // 4, online=n != 0)
            for n in range(8)]
    m = Machine(cpus)
    m.offline_nodes = [0]
    m.distances = {1: {1: 10}}
    return m


def pmem():
    """Two sockets, and two nodes of memory only, which hwloc would give to the sockets' CPUs."""
    cpus = [Cpu(n, core=n // 2, l1=n // 2, l2=n // 2, l3=n // 8, package=n // 8, node=n // 8)
            for n in range(16)]
    m = Machine(cpus)
    m.memory_nodes = [2, 3]
    rows = ((10, 21, 17, 28), (21, 10, 28, 17), (17, 28, 10, 28), (28, 17, 28, 10))
    m.distances = {i: dict(enumerate(row)) for i, row in enumerate(rows)}
    return m


def snc_memory():
    """Two sockets of two clusters, each a node; two nodes of memory only, numbered between."""
    node = (0, 2, 3, 5)
    cpus = [Cpu(n, core=n, l1=n, l2=n, l3=n // 8, package=n // 8, node=node[n // 4])
            for n in range(16)]
    m = Machine(cpus)
    m.memory_nodes = [1, 4]
    socket = {0: 0, 2: 0, 1: 0, 3: 1, 5: 1, 4: 1}
    m.distances = {i: {j: 10 if i == j else (15 if {i, j}.isdisjoint({1, 4}) else 13 + j)
                       if socket[i] == socket[j] else 21 + (j in (1, 4)) for j in sorted(socket)}
                   for i in sorted(socket)}
    return m


def nodes64():
    """64 nodes of two packages of two CPUs; distances asymmetric, no caches."""
    cpus = [Cpu(n, core=n, package=n // 2, node=n // 4) for n in range(256)]
    m = Machine(cpus)
    m.distances = {i: {j: 10 if i == j else 22 if i // 8 == j // 8 else 30 if i < j else 34
                       for j in range(64)} for i in range(64)}
    return m


def asymmetric():
    """CPUs 0-3 without an L2, 4-7 with one for two, of a size that is not told; one package. What
    processor it is, and whose guest, is not told either."""
    cpus = [Cpu(n, core=n, l1=n, l2=n // 2 if n >= 4 else None, package=0, node=0,
                size={1: "32K", 2: None}) for n in range(8)]
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    m.cpuinfo = "processor\t: 0\n"
    m.files["/sys/devices/system/cpu/cpu0/microcode/version"] = "\n"
    return m


def isolated():
    """8 cores with SMT; 2-3 and siblings isolated, 7 and 15 nohz_full; cpuset leaves out 0."""
    cpus = [Cpu(n, core=n % 8, l1=n % 8, l2=n % 8, l3=0, package=0, node=0, frequency=n % 8,
                freqdomain=n % 8 // 4) for n in range(16)]
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    m.isolated = "2-3,10-11"
    m.nohz_full = "7,15"
    m.cpuset = "1-15"
    return m


def crossing():
    """A guest whose NUMA nodes cut across its packages."""
    cpus = [Cpu(n, core=n, l1=n, l2=n, l3=n // 4, package=n // 4, node=n % 2) for n in range(8)]
    m = Machine(cpus)
    m.distances = {0: {0: 10, 1: 20}, 1: {0: 20, 1: 10}}
    return m


def bulldozer():
    """Modules of two cores share an L2 and are no SMT siblings."""
    cpus = [Cpu(n, core=n, l1=n, l2=n // 2, l3=n // 8, package=n // 16, node=n // 8)
            for n in range(32)]
    m = Machine(cpus)
    m.distances = {i: {j: 10 if i == j else 16 if i // 2 == j // 2 else 22 for j in range(4)}
                   for i in range(4)}
    return m


def single():
    """One CPU: there are no pairs."""
    m = Machine([Cpu(0, core=0, l1=0, package=0, node=0)])
    m.distances = {0: {0: 10}}
    return m


def llc(version, wrong):
    """8 CPUs, L3 of 4; /proc/schedstat of a version, debugfs where it names nothing. "wrong": the
    scheduler takes the whole package for one LLC."""
    cpus = [Cpu(n, core=n // 2, l1=n // 2, l2=n // 2, l3=n // 4, package=0, node=0) for n in range(8)]
    m = Machine(cpus)
    m.distances = {0: {0: 10}}
    lines = [f"version {version}", "timestamp 4294900000"]
    names = ["SMT", "MC"] + ([] if wrong else ["PKG"])
    for n in range(8):
        masks = [mask_text([n // 2 * 2, n // 2 * 2 + 1], 8).strip(),
                 "000000ff" if wrong else mask_text(range(n // 4 * 4, n // 4 * 4 + 4), 8).strip(),
                 "000000ff"]
        lines.append(f"cpu{n} 0 0 0 0 0 0 1 2 3")
        for i, name in enumerate(names):
            label = f"{name} " if version >= 17 else ""
            lines.append(f"domain{i} {label}{masks[i]} " + " ".join(["0"] * 36))
            if version < 17:
                flags = "SD_BALANCE_NEWIDLE SD_SHARE_PKG_RESOURCES" if name != "PKG" else "SD_X"
                m.debugfs[f"/sys/kernel/debug/sched/domains/cpu{n}/domain{i}/flags"] = flags + "\n"
                m.debugfs[f"/sys/kernel/debug/sched/domains/cpu{n}/domain{i}/name"] = name + "\n"
    m.schedstat = "\n".join(lines) + "\n"
    return m


def random_machine(seed):
    """Nested objects of random sizes over randomly numbered CPUs; nodes may cross packages."""
    r = random.Random(seed)
    threads = r.choice((1, 2, 4))
    shape = {"core": threads}
    size = threads
    for name in ("l2", "cluster", "l3", "package"):
        size *= r.choice((1, 1, 2, 3))
        shape[name] = size
    total = size * r.choice((1, 2, 3))
    numbers = r.sample(range(total * 2), total)
    crossing_nodes = r.random() < 0.2
    kinds = r.choice((1, 1, 2))
    node_size = max(1, r.choice((shape["l3"], shape["package"], total)))
    cpus = []
    for i, number in enumerate(numbers):
        node = i % 2 if crossing_nodes else i // node_size
        has_l2 = r.random() < 0.9
        cpus.append(Cpu(number, core=i // shape["core"], l1=i // shape["core"],
                        l2=i // shape["l2"] if has_l2 else None, cluster=i // shape["cluster"],
                        l3=i // shape["l3"], package=i // shape["package"], node=node,
                        capacity=(1024, 500)[i // shape["core"] % kinds],
                        online=i == 0 or r.random() < 0.95))
    m = Machine(cpus)
    nodes = sorted({c.node for c in cpus})
    m.distances = {i: {j: 10 if i == j else r.choice((20, 20, 32)) for j in nodes} for i in nodes}
    return m


MACHINES = {
    "power9-bigcore": lambda: bigcore(False),
    "power10-bigcore": lambda: bigcore(True),
    "kunpeng920": kunpeng920,
    "epyc-nps1": lambda: epyc(1),
    "epyc-nps4": lambda: epyc(4),
    "intel-hybrid": lambda: intel_hybrid(False),
    "hybrid-capacity": lambda: intel_hybrid(True),
    "big-little": big_little,
    "gb10": gb10,
    "snc-l3-node": lambda: snc(False),
    "snc-l3-package": lambda: snc(True),
    "vm2": vm2,
    "guest": guest,
    "huge": huge,
    "sparse": sparse,
    "offline-zero": offline_zero,
    "pmem": pmem,
    "snc-memory": snc_memory,
    "nodes64": nodes64,
    "asymmetric": asymmetric,
    "isolated": isolated,
    "crossing": crossing,
    "bulldozer": bulldozer,
    "single": single,
    "llc-15": lambda: llc(15, False),
    "llc-17": lambda: llc(17, False),
    "llc-wrong": lambda: llc(17, True),
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(MACHINES))
        return 0
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    name, root = sys.argv[1:]
    if name.startswith("random:"):
        write_tree(random_machine(int(name.split(":")[1])), root)
    elif name in MACHINES:
        write_tree(MACHINES[name](), root)
    else:
        print(f"mktree.py: no machine '{name}'; there are: {', '.join(MACHINES)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
