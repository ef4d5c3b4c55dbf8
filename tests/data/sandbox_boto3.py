"""Drives the sandbox's HTTP door with boto3, a client that knows nothing of the sandbox.

Usage: sandbox_boto3.py ENDPOINT SCENARIO. Exits with a traceback when an expectation fails.
"""

import datetime
import json
import sys
import urllib.error
import urllib.request

import boto3
import botocore.exceptions
from botocore.config import Config

ENDPOINT = sys.argv[1]
REGION = "eu-west-1"
ACCOUNT = "111122223333"
QUICK = {"Delay": 0.02, "MaxAttempts": 500}
BASE = {
    "DBInstanceClass": "db.t4g.medium",
    "Engine": "postgres",
    "EngineVersion": "15.14",
    "AllocatedStorage": 100,
    "MasterUsername": "app",
    "ManageMasterUserPassword": True,
}


def client(service, key=ACCOUNT, token=None, attempts=1, region=REGION):
    return boto3.client(
        service,
        endpoint_url=ENDPOINT,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key="any",
        aws_session_token=token,
        config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}),
    )


def get(path):
    with urllib.request.urlopen(ENDPOINT + path) as answer:
        return json.load(answer)


def expect(error, code, call, **params):
    """Expects that a call raises this class with this code."""
    try:
        call(**params)
    except error as refused:
        assert refused.response["Error"]["Code"] == code, refused
        assert refused.response["ResponseMetadata"]["RequestId"]
        assert refused.response["Error"]["Message"]
    else:
        raise AssertionError(f"{code} was expected of {params}")


def same(path, plain, parsed):
    """Expects that what boto3 parsed is what the model holds, member by member."""
    if isinstance(plain, dict):
        assert set(plain) == set(parsed), (path, set(plain) ^ set(parsed))
        for name in plain:
            same(f"{path}.{name}", plain[name], parsed[name])
    elif isinstance(plain, list):
        assert len(plain) == len(parsed), (path, plain, parsed)
        for number, item in enumerate(plain):
            same(f"{path}[{number}]", item, parsed[number])
    elif isinstance(parsed, datetime.datetime):
        assert datetime.datetime.fromisoformat(plain) == parsed, (path, plain, parsed)
    else:
        assert plain == parsed, (path, plain, parsed)


def life():
    rds = client("rds")
    made = rds.create_db_instance(
        DBInstanceIdentifier="Orders",
        **BASE,
        Tags=[{"Key": "team", "Value": "payments & <co>"}, {"Key": "empty", "Value": ""}],
        MultiAZ=True,
        StorageEncrypted=True,
        DeletionProtection=True,
        EnableCloudwatchLogsExports=["upgrade", "postgresql"],
        PreferredMaintenanceWindow="Sun:05:00-Sun:06:00",
        PreferredBackupWindow="02:00-03:00",
        BackupRetentionPeriod=7,
        MaxAllocatedStorage=1000,
    )["DBInstance"]
    assert made["DBInstanceIdentifier"] == "orders"
    assert made["DBInstanceStatus"] == "creating", made["DBInstanceStatus"]
    assert "Endpoint" not in made
    rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier="orders", WaiterConfig=QUICK)

    def now():
        return rds.describe_db_instances(DBInstanceIdentifier="orders")["DBInstances"][0]

    db = now()
    assert db["Endpoint"]["Port"] == 5432 and db["Endpoint"]["Address"].startswith("orders.")
    assert db["PreferredMaintenanceWindow"] == "sun:05:00-sun:06:00"
    assert db["EnabledCloudwatchLogsExports"] == ["postgresql", "upgrade"]
    assert db["TagList"] == [
        {"Key": "empty", "Value": ""},
        {"Key": "team", "Value": "payments & <co>"},
    ]
    assert db["MasterUserSecret"]["SecretStatus"] == "active"
    same("orders", get(f"/_sandbox/instances/{ACCOUNT}/{REGION}")["DBInstances"][0], db)

    # A deferred change waits, a second one merges, and a call that applies at once flushes both.
    modify = rds.modify_db_instance
    modify(DBInstanceIdentifier="orders", DBInstanceClass="db.r6g.large")
    modify(DBInstanceIdentifier="orders", EnableIAMDatabaseAuthentication=True)
    pending = {"DBInstanceClass": "db.r6g.large", "IAMDatabaseAuthenticationEnabled": True}
    assert now()["PendingModifiedValues"] == pending, now()["PendingModifiedValues"]
    assert now()["DBInstanceClass"] == "db.t4g.medium"
    modify(DBInstanceIdentifier="orders", AllocatedStorage=105, ApplyImmediately=True)
    while now()["PendingModifiedValues"]:
        assert now()["DBInstanceStatus"] != "failed"
    rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier="orders", WaiterConfig=QUICK)
    db = now()
    assert (db["DBInstanceClass"], db["AllocatedStorage"]) == ("db.r6g.large", 110)
    assert db["IAMDatabaseAuthenticationEnabled"] is True

    modify(
        DBInstanceIdentifier="orders",
        CloudwatchLogsExportConfiguration={"DisableLogTypes": ["upgrade"]},
    )
    while now().get("EnabledCloudwatchLogsExports") != ["postgresql"]:
        pass
    rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier="orders", WaiterConfig=QUICK)

    arn = db["DBInstanceArn"]
    rds.add_tags_to_resource(ResourceName=arn, Tags=[{"Key": "a", "Value": "1"}])
    rds.remove_tags_from_resource(ResourceName=arn, TagKeys=["empty", "team"])
    assert rds.list_tags_for_resource(ResourceName=arn)["TagList"] == [{"Key": "a", "Value": "1"}]

    delete = rds.delete_db_instance
    refused = botocore.exceptions.ClientError
    expect(refused, "InvalidParameterCombination", delete, DBInstanceIdentifier="orders", SkipFinalSnapshot=True)
    modify(DBInstanceIdentifier="orders", DeletionProtection=False)
    delete(DBInstanceIdentifier="orders", FinalDBSnapshotIdentifier="orders-last")
    rds.get_waiter("db_instance_deleted").wait(DBInstanceIdentifier="orders", WaiterConfig=QUICK)
    snapshots = rds.describe_db_snapshots(DBSnapshotIdentifier="orders-last")["DBSnapshots"]
    assert snapshots[0]["DBInstanceIdentifier"] == "orders" and snapshots[0]["Encrypted"] is True

    writes = [c for c in get("/_sandbox/calls?since=0") if c["operation"] == "DeleteDBInstance"]
    assert [c["refused"] for c in writes] == ["InvalidParameterCombination", None], writes
    assert {c["by"] for c in writes} == {ACCOUNT}


def pages():
    rds = client("rds", key="222233334444")
    names = [f"db-{number:03}" for number in range(230)]
    for name in names:
        rds.create_db_instance(DBInstanceIdentifier=name, **BASE)
    pager = rds.get_paginator("describe_db_instances")
    for size, count in [(100, 3), (20, 12)]:
        found = list(pager.paginate(PaginationConfig={"PageSize": size}))
        assert len(found) == count, len(found)
        assert [db["DBInstanceIdentifier"] for page in found for db in page["DBInstances"]] == names
    by_engine = rds.describe_db_instances(Filters=[{"Name": "engine", "Values": ["mysql"]}])
    assert by_engine["DBInstances"] == []
    refused = botocore.exceptions.ClientError
    for size in (19, 101):
        expect(refused, "InvalidParameterValue", rds.describe_db_instances, MaxRecords=size)
    expect(refused, "InvalidParameterValue", rds.describe_db_instances, Marker="not-a-marker")
    assert client("rds", key="222233334445").describe_db_instances()["DBInstances"] == []
    assert client("rds", key="222233334444", region="us-east-1").describe_db_instances()["DBInstances"] == []


def groups():
    rds, ec2 = client("rds"), client("ec2")
    vpc = ec2.describe_vpcs(Filters=[{"Name": "tag:Name", "Values": ["shared"]}])["Vpcs"][0]
    subnets = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc["VpcId"]]}])["Subnets"]
    ids = [subnet["SubnetId"] for subnet in subnets]
    group = rds.create_db_subnet_group(
        DBSubnetGroupName="Priv-Net",
        DBSubnetGroupDescription="private",
        SubnetIds=ids,
        Tags=[{"Key": "team", "Value": "net"}],
    )["DBSubnetGroup"]
    assert (group["DBSubnetGroupName"], group["VpcId"]) == ("priv-net", vpc["VpcId"])
    zones = {subnet["SubnetAvailabilityZone"]["Name"] for subnet in group["Subnets"]}
    assert zones == {"eu-west-1a", "eu-west-1b"}, zones
    tags = rds.list_tags_for_resource(ResourceName=group["DBSubnetGroupArn"])["TagList"]
    assert tags == [{"Key": "team", "Value": "net"}]
    changed = rds.modify_db_subnet_group(
        DBSubnetGroupName="priv-net", DBSubnetGroupDescription="changed", SubnetIds=ids
    )["DBSubnetGroup"]
    assert changed["DBSubnetGroupDescription"] == "changed"

    made = rds.create_db_parameter_group(
        DBParameterGroupName="pg-prod", DBParameterGroupFamily="postgres15", Description="prod"
    )["DBParameterGroup"]
    assert made["DBParameterGroupArn"].endswith(":pg:pg-prod")
    rds.create_db_instance(
        DBInstanceIdentifier="g1", DBSubnetGroupName="Priv-Net", DBParameterGroupName="PG-Prod", **BASE
    )
    rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier="g1", WaiterConfig=QUICK)

    def status():
        db = rds.describe_db_instances(DBInstanceIdentifier="g1")["DBInstances"][0]
        assert db["DBSubnetGroup"]["DBSubnetGroupName"] == "priv-net"
        return db["DBParameterGroups"][0]["ParameterApplyStatus"]

    def user():
        pager = rds.get_paginator("describe_db_parameters")
        found = pager.paginate(DBParameterGroupName="pg-prod", Source="user")
        return {p["ParameterName"]: p["ParameterValue"] for page in found for p in page["Parameters"]}

    def put(name, value, method):
        parameter = {"ParameterName": name, "ParameterValue": value, "ApplyMethod": method}
        return rds.modify_db_parameter_group(DBParameterGroupName="pg-prod", Parameters=[parameter])

    assert put("work_mem", "20480", "immediate")["DBParameterGroupName"] == "pg-prod"
    put("max_connections", "500", "pending-reboot")
    assert user() == {"work_mem": "20480", "max_connections": "500"}
    while status() != "pending-reboot":
        pass
    rds.reboot_db_instance(DBInstanceIdentifier="g1")
    while status() != "in-sync":
        pass
    rds.reset_db_parameter_group(
        DBParameterGroupName="pg-prod",
        Parameters=[{"ParameterName": "work_mem", "ApplyMethod": "immediate"}],
    )
    assert user() == {"max_connections": "500"}
    defaults = rds.describe_engine_default_parameters(DBParameterGroupFamily="mysql8.0")
    named = {p["ParameterName"]: p for p in defaults["EngineDefaults"]["Parameters"]}
    assert named["performance_schema"]["ApplyType"] == "static"
    assert named["datadir"]["IsModifiable"] is False


def errors():
    rds = client("rds", key="333344445555")
    e = rds.exceptions
    expect(e.DBInstanceNotFoundFault, "DBInstanceNotFound", rds.describe_db_instances, DBInstanceIdentifier="no")
    expect(e.DBInstanceNotFoundFault, "DBInstanceNotFound", rds.modify_db_instance, DBInstanceIdentifier="no")
    expect(e.DBParameterGroupNotFoundFault, "DBParameterGroupNotFound", rds.describe_db_parameter_groups, DBParameterGroupName="no")
    expect(e.DBParameterGroupNotFoundFault, "DBParameterGroupNotFound", rds.describe_db_parameters, DBParameterGroupName="no")
    expect(e.DBSubnetGroupNotFoundFault, "DBSubnetGroupNotFoundFault", rds.describe_db_subnet_groups, DBSubnetGroupName="no")
    expect(e.DBSnapshotNotFoundFault, "DBSnapshotNotFound", rds.describe_db_snapshots, DBSnapshotIdentifier="no")
    create = rds.create_db_instance
    create(DBInstanceIdentifier="db1", **BASE)
    expect(e.DBInstanceAlreadyExistsFault, "DBInstanceAlreadyExists", create, DBInstanceIdentifier="DB1", **BASE)
    expect(e.DBSubnetGroupNotFoundFault, "DBSubnetGroupNotFoundFault", create, DBInstanceIdentifier="x", DBSubnetGroupName="no", **BASE)
    expect(e.CertificateNotFoundFault, "CertificateNotFound", create, DBInstanceIdentifier="x", CACertificateIdentifier="no", **BASE)

    refused = botocore.exceptions.ClientError
    for code, wrong in [
        ("InvalidParameterValue", {"DBInstanceIdentifier": "-x"}),
        ("InvalidParameterValue", {"Engine": "dbase"}),
        ("InvalidParameterValue", {"DBInstanceClass": "large"}),
        ("InvalidParameterValue", {"AllocatedStorage": 3}),
        ("InvalidParameterValue", {"BackupRetentionPeriod": 36}),
        ("InvalidParameterValue", {"MasterUsername": "admin"}),
        ("InvalidParameterValue", {"PreferredMaintenanceWindow": "mon:00:00-mon:00:20"}),
        ("InvalidParameterValue", {"PreferredBackupWindow": "05:00-06:00", "PreferredMaintenanceWindow": "mon:05:30-mon:06:30"}),
        ("InvalidParameterCombination", {"EngineVersion": "99"}),
        ("InvalidParameterCombination", {"MasterUserPassword": "correct-horse"}),
        ("InvalidParameterCombination", {"MultiAZ": True, "AvailabilityZone": "eu-west-1a"}),
        ("InvalidParameterCombination", {"Iops": 4000, "StorageType": "gp3"}),
        ("InvalidParameterCombination", {"MaxAllocatedStorage": 50}),
        ("InvalidParameterCombination", {"MonitoringInterval": 60}),
        ("NotModelled", {"Timezone": "UTC"}),
    ]:
        expect(refused, code, create, **({"DBInstanceIdentifier": "x"} | BASE | wrong))
    assert len(rds.describe_db_instances()["DBInstances"]) == 1

    rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier="db1", WaiterConfig=QUICK)
    modify = rds.modify_db_instance
    expect(refused, "InvalidParameterCombination", modify, DBInstanceIdentifier="db1")
    expect(refused, "InvalidParameterCombination", modify, DBInstanceIdentifier="db1", AllocatedStorage=50)
    expect(refused, "InvalidParameterCombination", modify, DBInstanceIdentifier="db1", EngineVersion="15.4")
    rds.delete_db_instance(DBInstanceIdentifier="db1", SkipFinalSnapshot=True)
    expect(e.InvalidDBInstanceStateFault, "InvalidDBInstanceState", modify, DBInstanceIdentifier="db1", MultiAZ=True)

    expect(e.InvalidSubnet, "InvalidSubnet", rds.create_db_subnet_group, DBSubnetGroupName="g", DBSubnetGroupDescription="g", SubnetIds=["subnet-0"])
    subnet = client("ec2", key="333344445555").describe_subnets()["Subnets"][0]["SubnetId"]
    expect(e.DBSubnetGroupDoesNotCoverEnoughAZs, "DBSubnetGroupDoesNotCoverEnoughAZs", rds.create_db_subnet_group, DBSubnetGroupName="g", DBSubnetGroupDescription="g", SubnetIds=[subnet])
    expect(refused, "InvalidAction", rds.describe_db_proxies)


def identities():
    sts = client("sts")
    assert sts.get_caller_identity()["Account"] == ACCOUNT
    role = sts.assume_role(RoleArn="arn:aws:iam::444455556666:role/path/levelset", RoleSessionName="run-1")
    assert role["AssumedRoleUser"]["Arn"] == "arn:aws:sts::444455556666:assumed-role/levelset/run-1"
    assert role["Credentials"]["Expiration"] > datetime.datetime.now(datetime.timezone.utc)
    key, token = role["Credentials"]["AccessKeyId"], role["Credentials"]["SessionToken"]
    me = client("sts", key=key, token=token).get_caller_identity()
    assert (me["Account"], me["Arn"]) == ("444455556666", role["AssumedRoleUser"]["Arn"])
    client("rds", key=key, token=token).create_db_instance(DBInstanceIdentifier="theirs", **BASE)
    assert len(client("rds", key="444455556666").describe_db_instances()["DBInstances"]) == 1
    refused = botocore.exceptions.ClientError
    expect(refused, "InvalidClientTokenId", client("rds", key=key, token="other").describe_db_instances)
    expect(refused, "ValidationError", sts.assume_role, RoleArn="arn:aws:iam::4:role/levelset-x", RoleSessionName="run-1")

    ec2 = client("ec2")
    vpcs = [v for page in ec2.get_paginator("describe_vpcs").paginate(PaginationConfig={"PageSize": 5}) for v in page["Vpcs"]]
    assert [v["CidrBlock"] for v in vpcs if not v["IsDefault"]] == ["10.0.0.0/16"]
    assert {"Key": "Name", "Value": "shared"} in [t for v in vpcs for t in v["Tags"]]
    found = ec2.describe_subnets(Filters=[{"Name": "tag:Name", "Values": ["shared-*"]}])["Subnets"]
    assert {s["AvailabilityZone"] for s in found} == {"eu-west-1a", "eu-west-1b"}
    assert ec2.describe_subnets(SubnetIds=[found[0]["SubnetId"]])["Subnets"] == found[:1]
    expect(refused, "InvalidVpcID.NotFound", ec2.describe_vpcs, VpcIds=["vpc-00000000000000000"])
    expect(refused, "InvalidParameterValue", ec2.describe_vpcs, Filters=[{"Name": "no", "Values": ["x"]}])

    unsigned = urllib.request.Request(ENDPOINT, data=b"Action=DescribeDBInstances&Version=2014-10-31")
    try:
        urllib.request.urlopen(unsigned)
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 403 and b"MissingAuthenticationToken" in refusal.read()
    else:
        raise AssertionError("an unsigned request was answered")


def security_groups():
    ec2 = client("ec2")
    refused = botocore.exceptions.ClientError
    vpc = next(v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"] if not v["IsDefault"])
    tags = [{"ResourceType": "security-group", "Tags": [{"Key": "team", "Value": "a"}]}]
    made = ec2.create_security_group(GroupName="app", Description="programs", VpcId=vpc, TagSpecifications=tags)
    group = made["GroupId"]
    ec2.get_waiter("security_group_exists").wait(GroupIds=[group], WaiterConfig=QUICK)
    rules = [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.1/8", "Description": "ssh"}],
         "Ipv6Ranges": [{"CidrIpv6": "2001:DB8::1/64"}], "UserIdGroupPairs": [{"GroupId": group}]},
        {"IpProtocol": "icmp", "FromPort": 8, "ToPort": -1, "PrefixListIds": [{"PrefixListId": "pl-1"}]},
    ]
    assert ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rules)["Return"] is True
    expect(refused, "InvalidPermission.Duplicate", ec2.authorize_security_group_ingress, GroupId=group, IpPermissions=rules)
    described = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "shell"}]}
    ec2.update_security_group_rule_descriptions_ingress(GroupId=group, IpPermissions=[described])
    ec2.create_tags(Resources=[group], Tags=[{"Key": "team", "Value": "b"}])
    found = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": ["app"]}])["SecurityGroups"]
    assert [(g["GroupId"], g["Description"], g["Tags"]) for g in found] == [(group, "programs", [{"Key": "team", "Value": "b"}])]
    tcp, icmp = found[0]["IpPermissions"]
    assert tcp["IpRanges"] == [{"CidrIp": "10.0.0.0/8", "Description": "shell"}], tcp
    assert (tcp["Ipv6Ranges"], tcp["UserIdGroupPairs"]) == ([{"CidrIpv6": "2001:db8::/64"}], [{"GroupId": group, "UserId": ACCOUNT}])
    assert (icmp["FromPort"], icmp["ToPort"], icmp["PrefixListIds"]) == (8, -1, [{"PrefixListId": "pl-1"}])
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=everywhere)
    expect(refused, "InvalidPermission.NotFound", ec2.revoke_security_group_egress, GroupId=group, IpPermissions=everywhere)
    ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=rules)
    assert ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissions"] == []
    pages = ec2.get_paginator("describe_security_groups").paginate(PaginationConfig={"PageSize": 5})
    assert {g["GroupName"] for page in pages for g in page["SecurityGroups"]} == {"app", "default"}
    ec2.delete_security_group(GroupId=group)
    expect(refused, "InvalidGroup.NotFound", ec2.describe_security_groups, GroupIds=[group])


def aurora():
    rds = client("rds")
    refused = botocore.exceptions.ClientError
    expect(rds.exceptions.DBClusterNotFoundFault, "DBClusterNotFoundFault", rds.describe_db_clusters, DBClusterIdentifier="shop")
    rds.create_db_cluster_parameter_group(
        DBClusterParameterGroupName="shop-16", DBParameterGroupFamily="aurora-postgresql16", Description="d"
    )
    parameter = {"ParameterName": "rds.force_ssl", "ParameterValue": "0", "ApplyMethod": "immediate"}
    rds.modify_db_cluster_parameter_group(DBClusterParameterGroupName="shop-16", Parameters=[parameter])
    made = rds.create_db_cluster(
        DBClusterIdentifier="Shop",
        Engine="aurora-postgresql",
        EngineVersion="16.4",
        MasterUsername="app",
        ManageMasterUserPassword=True,
        StorageEncrypted=True,
        DBClusterParameterGroupName="shop-16",
        ServerlessV2ScalingConfiguration={"MinCapacity": 0.5, "MaxCapacity": 8},
        Tags=[{"Key": "team", "Value": "shop"}],
    )["DBCluster"]
    assert (made["Status"], made["DBClusterIdentifier"]) == ("creating", "shop"), made
    assert "StorageType" not in made and "PendingModifiedValues" not in made
    rds.get_waiter("db_cluster_available").wait(DBClusterIdentifier="shop", WaiterConfig=QUICK)
    for name, tier in ("shop-a", 0), ("shop-b", 1):
        rds.create_db_instance(
            DBInstanceIdentifier=name,
            DBClusterIdentifier="shop",
            DBInstanceClass="db.r6g.large",
            Engine="aurora-postgresql",
            PromotionTier=tier,
        )
        rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier=name, WaiterConfig=QUICK)

    def now():
        return rds.describe_db_clusters(DBClusterIdentifier="shop")["DBClusters"][0]

    def writer():
        return [m["DBInstanceIdentifier"] for m in now()["DBClusterMembers"] if m["IsClusterWriter"]]

    assert writer() == ["shop-a"] and len(now()["DBClusterMembers"]) == 2
    assert now()["ServerlessV2ScalingConfiguration"] == {"MinCapacity": 0.5, "MaxCapacity": 8.0}
    found = rds.describe_db_instances(Filters=[{"Name": "db-cluster-id", "Values": ["shop"]}])["DBInstances"]
    assert [i["DBInstanceIdentifier"] for i in found] == ["shop-a", "shop-b"]
    expect(refused, "InvalidParameterCombination", rds.modify_db_instance, DBInstanceIdentifier="shop-a", BackupRetentionPeriod=9)
    rds.failover_db_cluster(DBClusterIdentifier="shop")
    while writer() != ["shop-b"]:
        pass
    rds.get_waiter("db_cluster_available").wait(DBClusterIdentifier="shop", WaiterConfig=QUICK)
    rds.modify_db_cluster(DBClusterIdentifier="shop", EngineVersion="16.6")
    assert now()["PendingModifiedValues"] == {"EngineVersion": "16.6"}
    rds.modify_db_cluster(DBClusterIdentifier="shop", BackupRetentionPeriod=14, ApplyImmediately=True)
    while now()["EngineVersion"] != "16.6":
        pass
    expect(rds.exceptions.InvalidDBClusterStateFault, "InvalidDBClusterStateFault", rds.delete_db_cluster, DBClusterIdentifier="shop", SkipFinalSnapshot=True)
    for name in "shop-a", "shop-b":
        rds.get_waiter("db_instance_available").wait(DBInstanceIdentifier=name, WaiterConfig=QUICK)
        rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)
        rds.get_waiter("db_instance_deleted").wait(DBInstanceIdentifier=name, WaiterConfig=QUICK)
    rds.delete_db_cluster(DBClusterIdentifier="shop", FinalDBSnapshotIdentifier="shop-last")
    rds.get_waiter("db_cluster_deleted").wait(DBClusterIdentifier="shop", WaiterConfig=QUICK)
    rds.delete_db_cluster_parameter_group(DBClusterParameterGroupName="shop-16")


def faults():
    """The rules are set by whoever starts this: see the test."""
    refused = botocore.exceptions.ClientError
    lost = client("rds", key="555566667777")
    lost.create_db_instance(DBInstanceIdentifier="db1", **BASE)
    lost.get_waiter("db_instance_available").wait(DBInstanceIdentifier="db1", WaiterConfig=QUICK)
    try:
        lost.modify_db_instance(DBInstanceIdentifier="db1", DeletionProtection=True)
    except botocore.exceptions.ConnectionClosedError:
        pass
    else:
        raise AssertionError("the answer was not lost")
    assert lost.describe_db_instances()["DBInstances"][0]["DeletionProtection"] is True

    throttled = client("rds", key="666677778888")
    expect(refused, "Throttling", throttled.describe_db_instances)
    expect(refused, "RequestLimitExceeded", client("ec2", key="666677778888").describe_vpcs)
    patient = client("rds", key="777788889999", attempts=3)
    answer = patient.describe_db_instances()
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1, answer["ResponseMetadata"]
    expect(refused, "AccessDenied", client("rds", key="888899990000").describe_db_instances)
    expect(refused, "InternalFailure", client("rds", key="999900001111").describe_db_instances)


globals()[sys.argv[2]]()
