# SPDX-License-Identifier: MIT
"""What tests of the store share: daemons with invented results, filled stores, the manager's methods."""

import json
import os
import signal
import subprocess

import dbus
from tap import BIN, PATIENCE, TOP, contains, equal

NAME, ROOT, MANAGER = ("org.schedlab.SchedLab1", "/org/schedlab/SchedLab1",
                       "org.schedlab.SchedLab1.Manager")
FILL = os.path.join(os.path.dirname(BIN), "tools/fill-store")
MACHINE = ("--topology", "synthetic:package:2 l3:2 core:2 pu:2")
SLOT, SUPERBLOCKS = 512, 8192


def stand_in(d, **orders):
    """The arguments of a daemon whose results are invented: no machine's speed matters."""
    path = os.path.join(d.path, "worker")
    if not os.path.islink(path):
        os.symlink(os.path.join(TOP, "tests/fake/worker"), path)
    d.file("worker.json", json.dumps(orders))
    return [*MACHINE, "--worker", path]


def fill(directory, records, size=None):
    subprocess.run([FILL, directory, str(records)] + ([str(size)] if size else []), check=True)


def stop(bus, number=signal.SIGTERM):
    bus.daemon.send_signal(number)
    bus.daemon.wait(timeout=PATIENCE)


def refill(bus, records, size=None):
    """A daemon on a store that months have filled."""
    stop(bus)
    fill(bus.state, records, size)
    bus.start()


class Manager:
    """The manager's methods, by a connection of its own."""

    def __init__(self, bus):
        self.connection = dbus.bus.BusConnection(bus.env["DBUS_SYSTEM_BUS_ADDRESS"])
        self.object = self.connection.get_object(NAME, ROOT, introspect=False)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.connection.close()

    def call(self, method, signature="", *args):
        return self.object.get_dbus_method(method, MANAGER)(*args, signature=signature,
                                                            timeout=PATIENCE)

    def page(self, cursor=0, limit=0, **filters):
        cursor, text = self.call("QueryPage", "a{sv}tu", typed(filters), cursor, limit)
        return int(cursor), [json.loads(line) for line in text.splitlines()]

    def records(self, **filters):
        """All pages of a query."""
        found, cursor = [], 0
        while True:
            cursor, page = self.page(cursor, **filters)
            found += page
            if cursor == 0:
                return found

    def pipe(self, **filters):
        return os.fdopen(self.call("Query", "a{sv}", typed(filters)).take(), encoding="utf-8")

    def check(self):
        return json.loads(self.call("CheckStore"))

    def refuses(self, error, sentence, method, signature="", *args):
        try:
            self.call(method, signature, *args)
        except dbus.DBusException as e:
            equal(e.get_dbus_name(), "org.schedlab.Error." + error)
            contains(e.get_dbus_message(), sentence)
            return
        raise AssertionError(f"{method} was not refused")


def typed(filters):
    types = {"since": ("since-usec", dbus.UInt64), "until": ("until-usec", dbus.UInt64),
             "job": ("job", dbus.UInt64), "experiment": ("experiment", dbus.UInt64),
             "arm": ("arm", dbus.UInt32), "kinds": ("kinds", lambda v: dbus.Array(v, "s")),
             "classes": ("classes", lambda v: dbus.Array(v, "s")),
             "pairs": ("pairs", lambda v: dbus.Array([dbus.Struct([dbus.UInt32(c) for c in p]) for p in v],
                                                     "(uu)"))}
    made = {}
    for name, value in filters.items():
        key, make = types.get(name, (name, dbus.String))
        made[key] = make(value)
    return dbus.Dictionary(made, "sv")


def measure(bus, *args, status=0):
    return bus.ctl("measure", "switch", "--duration", "1ms", *args, status=status)


def restart(bus, number=signal.SIGTERM):
    stop(bus, number)
    bus.start()
