"""A substitute for ps-lite in plain Python: servers and workers join the scheduler that the variables name."""

import json
import os
import socket
import time

role, port = os.environ["DMLC_ROLE"], int(os.environ["DMLC_PS_ROOT_PORT"])
count = int(os.environ["DMLC_NUM_SERVER"]) + int(os.environ["DMLC_NUM_WORKER"])
name = socket.gethostname()
assert os.environ["DMLC_USE_KUBERNETES"] == "1"
if role == "scheduler":
    with socket.create_server(("0.0.0.0", port)) as server:
        found = [server.accept()[0] for _ in range(count)]
        joined = sorted(connection.makefile().readline().strip() for connection in found)
        for connection in found:
            connection.sendall(json.dumps(joined).encode() + b"\n")
            connection.close()
else:
    while True:
        try:
            connection = socket.create_connection((os.environ["DMLC_PS_ROOT_URI"], port))
            break
        except OSError:
            time.sleep(0.1)
    connection.sendall(f"{role} {name}\n".encode())
    joined = json.loads(connection.makefile().readline())
print("PROOF " + json.dumps({"role": role, "host": name, "joined": joined}), flush=True)
