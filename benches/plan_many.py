#!/usr/bin/env python3
"""Measures `levelset plan` over N converged databases on moto: requests, wall, CPU, peak memory.

    make test-tools && cargo build --release
    target/test-tools/moto/bin/python benches/plan_many.py [N] [path of levelset]

Sends traffic to a moto server of its own on loopback, and stops it at the end.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import boto3

ACCOUNT, REGION, VPC = "123456789012", "eu-west-1", "shared-prod-vpc"
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
      sizeClass: db.t4g.micro
      storage: {{sizeGiB: 20}}
      backups: {{retentionDays: 7}}
      tags: {{team: bench}}
    network:
      vpcRef: shared-prod-vpc
"""
SETTINGS = """stateDirectory: {folder}/state
environments:
  production:
    account: "{account}"
    region: {region}
    endpointUrl: {endpoint}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_moto(folder):
    """Starts moto and returns its process, address and log; every request is one line of the log."""
    port, log = free_port(), folder / "moto.log"
    server = Path(sys.executable).parent / "moto_server"
    environment = dict(os.environ, MOTO_RDS_SNAPSHOT_LIMIT="100000")
    with log.open("w") as output:
        command = [server, "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stderr=output, stdout=output, env=environment)
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}", log
        time.sleep(0.1)
    raise SystemExit("moto did not start; see " + str(log))


def seed(endpoint, names):
    """Makes the VPC, the subnet group and the databases as a converged agent would have."""
    keys = dict(aws_access_key_id="test", aws_secret_access_key="test")
    client = lambda service: boto3.client(service, region_name=REGION, endpoint_url=endpoint, **keys)
    ec2, rds = client("ec2"), client("rds")
    tag = {"ResourceType": "vpc", "Tags": [{"Key": "Name", "Value": VPC}]}
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=[tag])["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=REGION + zone)
        for n, zone in enumerate("ab")
    ]
    group = f"levelset-{VPC}"
    owner = lambda name: [{"Key": "levelset:owner", "Value": f"levelset/{name}"}]
    rds.create_db_subnet_group(
        DBSubnetGroupName=group,
        DBSubnetGroupDescription=group,
        SubnetIds=[subnet["Subnet"]["SubnetId"] for subnet in subnets],
        Tags=owner(f"Network/{VPC}"),
    )
    for name in names:
        rds.create_db_instance(
            DBInstanceIdentifier=name,
            Engine="postgres",
            EngineVersion="15.4",
            DBInstanceClass="db.t4g.micro",
            AllocatedStorage=20,
            BackupRetentionPeriod=7,
            MasterUsername="app",
            ManageMasterUserPassword=True,
            DBSubnetGroupName=group,
            Tags=owner(f"Workspace/{name}") + [{"Key": "team", "Value": "bench"}],
        )


def requests(log):
    return sum(line.count('"POST / HTTP') for line in log.read_text().splitlines())


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    program = sys.argv[2] if len(sys.argv) > 2 else "target/release/levelset"
    names = [f"team-{number:04}" for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        moto, endpoint, log = start_moto(folder)
        try:
            seed(endpoint, names)
            manifests = folder / "manifests"
            manifests.mkdir()
            for name in names:
                (manifests / f"{name}.yaml").write_text(MANIFEST.format(name=name))
            settings = folder / "levelset.yaml"
            values = dict(folder=folder, account=ACCOUNT, region=REGION, endpoint=endpoint)
            settings.write_text(SETTINGS.format(**values))
            before, started = requests(log), time.monotonic()
            keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
            command = [program, "plan", manifests, "--config", settings]
            environment = dict(os.environ, **keys)
            plan = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            summary = plan.stdout.read().strip().splitlines()[-1]
            _, status, usage = os.wait4(plan.pid, 0)
            wall = time.monotonic() - started
        finally:
            moto.terminate()
            moto.wait()
        code = os.waitstatus_to_exitcode(status)
        print(f"{summary} (exit code {code})")
        print(f"{count} databases: {requests(log) - before} requests, {wall:.2f} s wall")
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        print(f"levelset alone: {cpu:.2f} s CPU, {memory:.0f} MiB peak memory")
        sys.exit(code)


main()
