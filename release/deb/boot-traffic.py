"""One MPTCP connection between two network namespaces, for boot-checks.sh.

`boot-traffic.py receive 20000000` takes what comes, and says when this many bytes have come.
`boot-traffic.py send 20000000` sends the same number over two subflows, says so, and keeps the
connection open until its standard input ends.
"""

import contextlib
import socket
import struct
import sys
import time

IPPROTO_MPTCP = 262
TCP_CONGESTION = 13
SOL_MPTCP = 284
MPTCP_INFO = 1
SERVER = ("10.0.1.2", 5001)
PATIENCE = 120


def mptcp_socket() -> socket.socket:
    """One that chooses no congestion control."""
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)


def receive(size: int) -> None:
    """Accept one connection, and take all of it."""
    listener = mptcp_socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(SERVER)
    listener.listen()
    print("listening", flush=True)
    connection, _ = listener.accept()
    got = 0
    while data := connection.recv(1 << 16):
        got += len(data)
        if got >= size:
            print(f"received {got}", flush=True)


def further_subflows(connection: socket.socket) -> int:
    """How many subflows the connection has beside its first."""
    info = connection.getsockopt(SOL_MPTCP, MPTCP_INFO, 64)
    return struct.unpack_from("B", info)[0]


def send(size: int) -> None:
    """Send once there are two subflows."""
    connection = mptcp_socket()
    connection.connect(SERVER)
    # A second subflow is joined once the first is known to carry data.
    connection.sendall(b"x")
    deadline = time.monotonic() + PATIENCE
    while further_subflows(connection) < 1:
        if time.monotonic() > deadline:
            raise SystemExit("no second subflow")
        time.sleep(0.05)
    control = connection.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)
    block = bytes(100_000)
    left = size - 1
    while left > 0:
        left -= connection.send(block[:left])
    print(f"sent {size} under {control.rstrip(bytes(1)).decode()}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdin.read()


{"receive": receive, "send": send}[sys.argv[1]](int(sys.argv[2]))
