# SPDX-License-Identifier: MIT
"""Tests as functions, TAP as output, and what they all need: programs, private buses, made machines.

A test file marks functions with @test and ends with run(). The programs under test are those in
SCHEDLAB_BIN (default: build/debug/bin).
"""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("SCHEDLAB_BIN", os.path.join(TOP, "build/debug/bin"))
CTL = os.path.join(BIN, "schedlabctl")
DAEMON = os.path.join(BIN, "schedlabd")
WORKER = os.path.join(BIN, "schedlab-worker")
MKTREE = os.path.join(TOP, "tests/tools/mktree.py")

# Sanitized programs on a busy machine are slow; a hang is told from that by this much.
PATIENCE = 180.0

# What standalone daemons keep: not in the home of whoever runs the tests.
STATE_HOME = tempfile.mkdtemp(prefix="schedlab-state-")
os.environ["XDG_STATE_HOME"] = STATE_HOME
atexit.register(shutil.rmtree, STATE_HOME, ignore_errors=True)

_tests = []


class Skip(Exception):
    """The reason why a test cannot run here."""


def test(function):
    _tests.append(function)
    return function


class Ended(BaseException):
    """We are told to end: what a test has started and mounted goes first."""


def _end(*unused):
    raise Ended


def run():
    failed = 0
    only = sys.argv[1:]
    chosen = [t for t in _tests if not only or t.__name__ in only]
    for name in set(only) - {t.__name__ for t in _tests}:
        sys.exit(f"there is no test {name}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    for number, function in enumerate(chosen, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {number} - {name}")
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except (Exception, SystemExit):  # whatever it was: the test has failed
            failed += 1
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            print(f"not ok {number} - {name}")
        sys.stdout.flush()
    print(f"1..{len(chosen)}")
    sys.exit(1 if failed else 0)


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}\n  expected {expected!r}\n  got      {got!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in:\n{text}")


class Result:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)


def ctl(*args, env=None, standalone=True, status=0):
    """Runs schedlabctl and asserts its exit status (None: any)."""
    command = [CTL] + (["--standalone"] if standalone else []) + list(args)
    done = Result(subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env))
    if status is not None and done.status != status:
        raise AssertionError(f"{' '.join(command)}: status {done.status}, not {status}\n"
                             f"stdout: {done.out}\nstderr: {done.err}")
    return done


class Directory:
    """A directory for one test, in memory where that can be had."""

    def __enter__(self):
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = tempfile.mkdtemp(prefix="schedlab-test-", dir=parent)
        os.chmod(self.path, 0o755)
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, mode)
        return path

    def machine(self, name):
        path = os.path.join(self.path, "machine-" + name)
        subprocess.run([MKTREE, name, path], check=True)
        return path


class Bus:
    """A private dbus-daemon with our daemon on it, as if it were the system bus."""

    def __init__(self, *daemon_args):
        self.daemon_args = daemon_args

    def __enter__(self):
        self.dir = Directory().__enter__()
        address = f"unix:path={self.dir.path}/bus"
        # Open to every user: what they may do is for our daemon to say.
        config = self.dir.file("broker.conf", f"""<busconfig>
 <type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>
 <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
 <allow send_type="signal"/><allow receive_sender="*"/><allow eavesdrop="true"/></policy>
</busconfig>""")
        self.broker = subprocess.Popen(["dbus-daemon", "--nofork", f"--config-file={config}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.env = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=address,
                        DBUS_SESSION_BUS_ADDRESS=address)
        self.state = tempfile.mkdtemp(dir=STATE_HOME)
        self.log = open(f"{self.dir.path}/log", "a+", encoding="utf-8")
        wait_for(lambda: os.path.exists(f"{self.dir.path}/bus"), "the broker's socket")
        self.start()
        return self

    def start(self):
        said = len(self.said())
        self.daemon = subprocess.Popen(
            [DAEMON, "--log-level", "info", "--state-dir", self.state, *self.daemon_args],
            stderr=self.log, env=self.env)
        wait_for(lambda: "ready on the bus" in self.said()[said:] or self.daemon.poll() is not None,
                 "the daemon")
        if self.daemon.poll() is not None:
            raise AssertionError("the daemon ended: " + self.said())

    def said(self):
        with open(f"{self.dir.path}/log", encoding="utf-8") as log:
            return log.read()

    def __exit__(self, *unused):
        for process in (self.daemon, self.broker):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.log.close()
        self.dir.__exit__()

    def busctl(self, *args, status=0):
        done = Result(subprocess.run(["busctl", "--system", *args], capture_output=True, text=True,
                                     timeout=PATIENCE, env=self.env))
        if status is not None and done.status != status:
            raise AssertionError(f"busctl {' '.join(args)}: {done.status}\n{done.out}{done.err}")
        return done

    def call(self, method, *args, status=0):
        return self.busctl("call", "org.schedlab.SchedLab1", "/org/schedlab/SchedLab1",
                           "org.schedlab.SchedLab1.Manager", method, *args, status=status)

    def ctl(self, *args, status=0):
        return ctl(*args, env=self.env, standalone=False, status=status)

    def start_ctl(self, *args):
        """A schedlabctl that goes on by itself."""
        return subprocess.Popen([CTL, *args], env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def jobs(self):
        return self.ctl("jobs", "list", "--json=short").json()["jobs"]


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.01)


def own_mounts():
    """The beginning of a command that runs with mounts of its own."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    # In a chroot the root is no mount whose propagation could be changed.
    for more in ([], ["--propagation", "unchanged"]):
        command = ["unshare", "--mount", *user, *more]
        done = subprocess.run([*command, "true"], capture_output=True, text=True)
        if done.returncode == 0:
            return command
    raise Skip("this machine has no mount namespaces: " + done.stderr.strip())


def children(pid):
    """The processes whose parent is @pid."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            found.append(int(name))
    return found


def is_alive(pid):
    """Neither gone nor a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def finish(process, number=signal.SIGTERM):
    """Ends a process that a test started, and returns its status and output."""
    if process.poll() is None:
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err
