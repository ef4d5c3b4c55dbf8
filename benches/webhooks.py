#!/usr/bin/env python3
"""Measures how fast a running agent answers a burst of N webhooks over C connections.

    cargo build --release
    python3 benches/webhooks.py [N] [C] [path of levelset]

Starts an agent of its own on a repository and a state directory of its own, on loopback, and stops
it at the end. No AWS is asked: the repository declares nothing that has an environment.
"""

import hashlib
import hmac
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SECRET = b"It's a Secret to Everybody"
MANIFEST = """apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: a}
spec:
  environment: nowhere
  resources:
    database: {engine: postgres, version: "15", sizeClass: db.t4g.micro}
    network: {vpcRef: shared}
"""
SETTINGS = """repository: {path: repository, branch: main}
stateDirectory: state
listen: 127.0.0.1:0
webhooks: {github: {secretFile: secret}}
environments: {production: {account: "123456789012", region: eu-west-1}}
"""


def prepare(folder):
    (folder / "levelset.yaml").write_text(SETTINGS)
    (folder / "secret").write_bytes(SECRET)
    repository = folder / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    (repository / "a.yaml").write_text(MANIFEST)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a"], check=True)


def start(program, folder):
    agent = subprocess.Popen([program, "run", "--log-format", "json"], cwd=folder,
                             stderr=subprocess.PIPE, text=True,
                             env={"AWS_EC2_METADATA_DISABLED": "true", "PATH": os.environ["PATH"]})
    for line in agent.stderr:
        found = re.search(r'"address":"([^"]+)"', line)
        if found:
            threading.Thread(target=agent.stderr.read, daemon=True).start()
            return agent, found.group(1)
    raise SystemExit("the agent did not start")


def client(address, numbers, body, times):
    connection = http.client.HTTPConnection(address, timeout=30)
    signature = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    for number in numbers:
        headers = {"Content-Type": "application/json", "X-GitHub-Event": "push",
                   "X-GitHub-Delivery": str(number), "X-Hub-Signature-256": signature}
        begin = time.perf_counter()
        connection.request("POST", "/webhooks/github", body, headers)
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - begin)
        assert answer.status == 200, answer.status


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    program = str(Path(sys.argv[3] if len(sys.argv) > 3 else "target/release/levelset").resolve())
    commits = [{"id": "0" * 40, "message": "m" * 200, "added": [], "modified": ["a.yaml"]}] * 20
    body = json.dumps({"ref": "refs/heads/main", "after": "1" * 40, "commits": commits,
                       "repository": {"full_name": "acme/environments"}}).encode()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        agent, address = start(program, folder)
        try:
            times = []
            shares = [range(start, count, connections) for start in range(connections)]
            threads = [threading.Thread(target=client, args=(address, share, body, times))
                       for share in shares]
            begin = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            wall = time.perf_counter() - begin
        finally:
            agent.terminate()
            agent.wait()
    times.sort()
    at = lambda share: 1000 * times[min(int(share * len(times)), len(times) - 1)]
    print(f"{len(times)} webhooks of {len(body)} bytes over {connections} connections in {wall:.1f} s: "
          f"median {at(0.5):.1f} ms, 99th percentile {at(0.99):.1f} ms, longest {at(1):.1f} ms")


if __name__ == "__main__":
    main()
