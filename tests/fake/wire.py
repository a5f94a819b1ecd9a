# SPDX-License-Identifier: MIT
"""The worker's side of daemon/bench/wire.h."""

import json
import socket
import struct
import sys

MAGIC, VERSION = 0x57424C53, 1
REQUEST, READY, GO, DONE, BYE, RESULT, FAILED = range(1, 8)
HEADER = "=IHHI"


class Wire:
    def __init__(self):
        self.socket = socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1]))

    def say(self, kind, payload=b"", magic=MAGIC, version=VERSION, size=None):
        if isinstance(payload, dict):
            payload = json.dumps(payload).encode()
        size = len(payload) if size is None else size
        self.socket.send(struct.pack(HEADER, magic, version, kind, size) + payload)

    def hear(self, kind):
        """The payload; ends the worker where the daemon has gone."""
        packet = self.socket.recv(1 << 17)
        if not packet:
            sys.exit(0)
        assert struct.unpack(HEADER, packet[:struct.calcsize(HEADER)])[2] == kind
        return packet[struct.calcsize(HEADER):]
