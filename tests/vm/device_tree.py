# SPDX-License-Identifier: MIT
"""QEMU's own device tree of the arm64 machine, with what it leaves out: caches and idle states."""

import os
import re
import subprocess

L1 = 32 << 10
L2 = 512 << 10
L3 = 2 << 20
LINE = 64
# phandles that QEMU does not use
IDLE, L2_FIRST, L3_FIRST = 0x9001, 0x9100, 0x9200

# (name, PSCI parameter, entry, exit and residency in microseconds)
STATES = [("cpu-retention", 1, 20, 40, 100), ("cluster-ret", 2, 100, 250, 900)]


def _cache(name, level, size, number, parent):
    next_level = f"next-level-cache = <{parent:#x}>; " if parent else ""
    return (f'{name} {{ compatible = "cache"; cache-unified; cache-level = <{level}>; '
            f"cache-size = <{size:#x}>; cache-line-size = <{LINE}>; cache-sets = <{size // LINE // 8}>; "
            f"{next_level}phandle = <{number:#x}>; }};")


def _idle_states():
    states = []
    for i, (name, parameter, entry, leave, residency) in enumerate(STATES):
        states.append(f'{name} {{ compatible = "arm,idle-state"; idle-state-name = "{name}"; '
                      f"arm,psci-suspend-param = <{parameter}>; entry-latency-us = <{entry}>; "
                      f"exit-latency-us = <{leave}>; min-residency-us = <{residency}>; "
                      f"phandle = <{IDLE + i:#x}>; }};")
    return 'idle-states { entry-method = "psci"; ' + " ".join(states) + " };"


def enrich(source, n_cpus, threads, cpus_per_cluster):
    """The source of a device tree, with an L2 a core, an L3 a cluster, and two idle states."""
    def cpu(match):
        core = int(match.group(1), 16) // threads
        states = " ".join(f"{IDLE + i:#x}" for i in range(len(STATES)))
        caches = " ".join(f"{kind}-cache-size = <{L1:#x}>; {kind}-cache-line-size = <{LINE}>; "
                          f"{kind}-cache-sets = <{L1 // LINE // 4}>;" for kind in "di")
        return (f"{match.group(0)} cpu-idle-states = <{states}>; {caches} "
                f"next-level-cache = <{L2_FIRST + core:#x}>;")

    source = re.sub(r"\n\t\tcpu@([0-9a-f]+) \{", cpu, source)
    cores_per_cluster = cpus_per_cluster // threads
    nodes = [_idle_states()]
    nodes += [_cache(f"l2-cache{i}", 2, L2, L2_FIRST + i, L3_FIRST + i // cores_per_cluster)
              for i in range(n_cpus // threads)]
    nodes += [_cache(f"l3-cache{i}", 3, L3, L3_FIRST + i, 0)
              for i in range(n_cpus // cpus_per_cluster)]
    return source.replace("\n\t\tcpu-map {", "\n" + "\n".join(nodes) + "\n\t\tcpu-map {", 1)


def arm64_device_tree(command, guest, place):
    """Has QEMU's @command dump its tree, and returns the path of the enriched one in @place."""
    plain, rich = os.path.join(place, "plain.dtb"), os.path.join(place, "rich.dtb")
    dump = list(command)
    machine = dump.index("-machine") + 1
    dump[machine] += f",dumpdtb={plain}"
    subprocess.run(dump + ["-nodefaults", "-display", "none"], check=True, capture_output=True)
    source = subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", plain], check=True,
                            capture_output=True, text=True).stdout
    parts = dict(p.split("=") for p in guest.smp.split(",")[1:])
    threads = int(parts["threads"])
    source = enrich(source, guest.n_cpus(), threads, threads * int(parts["cores"]))
    subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", rich], input=source, text=True,
                   check=True)
    return rich
