#!/usr/bin/env python3
"""Measures `levelset report` for a pull request that touches many of many objects, without API time.

    cargo build --release
    python3 benches/report_many.py [OBJECTS] [TOUCHED] [path of levelset]

Makes a Git repository in a temporary folder, and saved answers of AWS in the place of the cloud; all
of the databases are as their manifests declare, and the pull request changes one field of each that
it touches.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MANIFEST = """apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: {name}
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: "15"
      sizeClass: db.r6g.large
      backups: {{retentionDays: {days}}}
      tags: {{team: bench}}
"""


def instance(name):
    """Returns what DescribeDBInstances says of a database that is as declared."""
    return {
        "DBInstanceIdentifier": name,
        "DBInstanceArn": f"arn:aws:rds:eu-west-1:111122223333:db:{name}",
        "DBInstanceStatus": "available",
        "Engine": "postgres",
        "EngineVersion": "15.4",
        "DBInstanceClass": "db.r6g.large",
        "AllocatedStorage": 100,
        "StorageEncrypted": True,
        "BackupRetentionPeriod": 7,
        "PreferredMaintenanceWindow": "sun:05:00-sun:06:00",
        "PendingModifiedValues": {},
        "TagList": [
            {"Key": "levelset:owner", "Value": f"levelset/Workspace/{name}"},
            {"Key": "team", "Value": "bench"},
        ],
    }


def git(folder, *words):
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def write(folder, numbers, days):
    for number in numbers:
        path = folder / f"teams/team-{number // 100:03}/workspace-{number:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MANIFEST.format(name=f"workspace-{number:05}", days=days))


def main():
    objects, touched = (int(word) for word in (sys.argv[1:3] or ["10000", "500"]))
    levelset = Path(sys.argv[3] if len(sys.argv) > 3 else "target/release/levelset").resolve()
    with tempfile.TemporaryDirectory() as place:
        folder, observed = Path(place, "repository"), Path(place, "observed.json")
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main", ".")
        write(folder, range(objects), 7)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "base")
        git(folder, "checkout", "-q", "-b", "change")
        write(folder, range(0, objects, objects // touched), 14)
        git(folder, "commit", "-qam", "change")
        instances = [instance(f"workspace-{number:05}") for number in range(objects)]
        observed.write_text(json.dumps({"DBInstances": instances}))
        command = [levelset, "report", "--base", "main", "--observed", observed, "-o", "json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        answer = subprocess.run(command, cwd=folder, capture_output=True, env={"PATH": os.environ["PATH"]})
        wall = time.monotonic() - start
    report, used = json.loads(answer.stdout), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{report['verdict']} ({len(report['objects'])} of {objects} objects touched)")
    spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(f"{wall:.2f} s, {spent:.2f} s CPU, {used.ru_maxrss // 1024} MiB at most")


if __name__ == "__main__":
    main()
