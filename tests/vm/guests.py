# SPDX-License-Identifier: MIT
"""The guests: which kernel, which processors, and QEMU's command line for each.

All run without KVM, by QEMU's TCG: times order nothing there, so scenarios assert counts and texts.
One thread runs all CPUs in turn. With a thread each (QEMU 7.2) a CPU may go on with a stale translation of
code that the kernel patches meanwhile, as each flip of a feature and of "preempt" does: it was seen to loop
in the breakpoint of such a patch for ever. With two cores or fewer it is not even slower.
"""

import dataclasses
import os
import subprocess

# x86: a processor with SMT, L2 a core and L3 a die. Other models of QEMU lose SMT under TCG.
X86_CPU = "max,vendor=GenuineIntel,family=6,model=143,stepping=4,l3-cache=on"


@dataclasses.dataclass(frozen=True)
class Guest:
    name: str
    what: str
    arch: str = "amd64"
    kernel: str = "linux-image-amd64"
    suite: str = "bookworm"
    smp: str = "8,sockets=2,dies=1,cores=2,threads=2"
    memory: int = 640  # MiB; the file system is in it
    idle_states: bool = True
    append: str = ""
    long: bool = False  # only with --long

    def reports_to_qemu(self):
        """Whether its status becomes QEMU's: by a port, which only x86 has and lockdown closes."""
        return self.arch == "amd64" and "lockdown" not in self.append

    def n_cpus(self):
        return int(self.smp.split(",")[0])


GUESTS = [
    Guest("idle", "8 CPUs, 2 sockets x 2 cores x 2 threads, 2 nodes, idle states"),
    Guest("noidle", "the same without a cpuidle driver", idle_states=False),
    Guest("dies", "16 CPUs, 2 dies a socket", smp="16,sockets=2,dies=2,cores=2,threads=2",
          memory=768),
    Guest("kernel-6.12", "the first guest with the kernel of backports", suite="bookworm-backports",
          long=True),
    Guest("lockdown", "the first guest with kernel lockdown", append="lockdown=integrity", long=True),
    Guest("arm64", "8 CPUs, 2 clusters x 2 cores x 2 threads, PSCI idle states", arch="arm64",
          kernel="linux-image-arm64", smp="8,sockets=1,clusters=2,cores=2,threads=2", memory=1024,
          long=True),
    Guest("ppc64le", "pseries, 4 CPUs in 2 sockets, snooze and cede", arch="ppc64el",
          kernel="linux-image-powerpc64le", smp="4,sockets=2,cores=2,threads=1", memory=1280,
          long=True),
]

CONSOLE = {"amd64": "ttyS0,115200", "arm64": "ttyAMA0", "ppc64el": "hvc0"}
TRIPLET = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu",
           "ppc64el": "powerpc64le-linux-gnu"}


def command_line(guest):
    words = ["rdinit=/sbin/init", f"console={CONSOLE[guest.arch]}", "panic=-1", "loglevel=3",
             "mitigations=off", "audit=0", "apparmor=0", "selinux=0", "systemd.show_status=0"]
    if guest.arch == "amd64":
        words.append("nokaslr")
    return " ".join(words + guest.append.split())


def idle_table(guest, place):
    """An ACPI table with three idle states a CPU: all halt, so that TCG sleeps; their latencies differ."""
    n = guest.n_cpus()
    states = ", ".join("Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0, 0) }, 1, "
                       f"{latency}, {power} }}" for latency, power in ((1, 1000), (50, 500), (300, 100)))
    names = [f"C{i:03X}" for i in range(n)]
    source = ['DefinitionBlock ("", "SSDT", 1, "SCHLAB", "IDLE", 1) {']
    source += [f"External (\\_SB.CPUS.{c}, DeviceObj)" for c in names]
    source += [f"Scope (\\_SB.CPUS.{c}) {{ Name (_CST, Package () {{ 3, {states} }}) }}" for c in names]
    path = os.path.join(place, "idle")
    with open(path + ".asl", "w", encoding="ascii") as out:
        out.write("\n".join(source + ["}\n"]))
    subprocess.run(["iasl", "-p", path, path + ".asl"], check=True, stdout=subprocess.DEVNULL)
    return path + ".aml"


def _x86(guest, place):
    half = guest.memory // 2
    args = ["qemu-system-x86_64", "-machine", "q35,usb=off,smbus=off,sata=off",
            "-accel", "tcg,thread=single,tb-size=256", "-cpu", X86_CPU, "-no-user-config"]
    for node in (0, 1):
        args += ["-object", f"memory-backend-ram,id=m{node},size={half}M",
                 "-numa", f"node,nodeid={node},memdev=m{node}"]
    for node in (0, 1):
        args += ["-numa", f"cpu,node-id={node},socket-id={node}",
                 "-numa", f"dist,src={node},dst={1 - node},val=21"]
    if guest.idle_states:
        args += ["-acpitable", "file=" + idle_table(guest, place)]
    return args + ["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-device", "virtio-rng-pci"]


def _arm64(guest, place):
    from device_tree import arm64_device_tree
    # With GIC version 3 the first PSCI idle state never returns (QEMU 7.2).
    args = ["qemu-system-aarch64", "-machine", "virt,gic-version=2", "-cpu", "cortex-a57",
            "-accel", "tcg,thread=single"]
    tree = arm64_device_tree(args + ["-smp", guest.smp, "-m", str(guest.memory)], guest, place)
    return args + ["-dtb", tree]


def _ppc64el(guest, place):
    del guest, place
    return ["qemu-system-ppc64", "-machine",
            "pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off",
            "-cpu", "power9", "-accel", "tcg,thread=single"]


def qemu(guest, image, share, place):
    """The command that boots @guest from @image; @place is for files of its own."""
    make = {"amd64": _x86, "arm64": _arm64, "ppc64el": _ppc64el}[guest.arch]
    # Whoever kills us ends it too.
    return ["setpriv", "--pdeathsig", "KILL", *make(guest, place),
        "-nodefaults", "-no-reboot", "-display", "none", "-m", str(guest.memory), "-smp", guest.smp,
        "-kernel", os.path.join(image, "vmlinuz"), "-initrd", os.path.join(image, "root.cpio"),
        "-append", command_line(guest), "-serial", "file:" + os.path.join(share, "console.txt"),
        "-fsdev", f"local,id=host,path={share},security_model=none",
        "-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]
