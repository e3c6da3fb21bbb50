"""The sockets at which recorders take commands."""

import json
import os
import socket


def names_of(recorder):
    """The names of the control sockets that a process has open: one, if it is a recorder that has begun."""
    folder = f"/proc/{recorder}/fd/"
    links = {os.readlink(folder + fd) for fd in os.listdir(folder)}
    fields = [line.split() for line in open("/proc/net/unix").readlines()[1:]]
    return {f[7] for f in fields if len(f) > 7 and f[7].endswith(".ctl") and f"socket:[{f[6]}]" in links}


def connect(name):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(name)
    return client


def client_of(recorder):
    name, = names_of(recorder)
    return connect(name)


def ask(client, **request):
    """The answer to a command."""
    client.send(json.dumps({"v": 1, **request}).encode())
    return json.loads(client.recv(5000))
