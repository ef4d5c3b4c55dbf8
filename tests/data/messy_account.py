"""Makes an account as people leave one behind, in an emulator of AWS, or tells how it stands.

    messy_account.py http://127.0.0.1:5555 eu-west-1 [FILE]
"""

import base64
import json
import sys

import boto3


def clients(endpoint, region):
    def client(service):
        return boto3.client(
            service,
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    services = ["ec2", "rds", "iam", "secretsmanager", "route53", "s3", "kms", "autoscaling"]
    return {name: client(name) for name in services}


def tags(**values):
    return [{"Key": key, "Value": value} for key, value in values.items()]


def network(ec2, region):
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    ec2.create_tags(Resources=[vpc], Tags=tags(Name="Shared Prod"))
    subnets = {"data": [], "web": []}
    for number, (tier, zone) in enumerate([("data", "a"), ("data", "b"), ("web", "a"), ("web", "b")]):
        block = f"10.20.{number}.0/24"
        zone = region + zone
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=zone)
        subnet = subnet["Subnet"]["SubnetId"]
        ec2.create_tags(Resources=[subnet], Tags=tags(Tier=tier))
        subnets[tier].append(subnet)
    return vpc, subnets


def group(ec2, vpc, name, *rules):
    made = ec2.create_security_group(GroupName=name, Description="by hand", VpcId=vpc)["GroupId"]
    for rule in rules:
        ec2.authorize_security_group_ingress(GroupId=made, IpPermissions=[rule])
    return made


def port(number, block, text):
    return {
        "IpProtocol": "tcp",
        "FromPort": number,
        "ToPort": number,
        "IpRanges": [{"CidrIp": block, "Description": text}],
    }


def make(aws, region):
    ec2, rds, iam = aws["ec2"], aws["rds"], aws["iam"]
    vpc, subnets = network(ec2, region)
    orders = group(ec2, vpc, "orders-db-access", port(5432, "10.20.0.0/16", "the office"))
    capitals = group(ec2, vpc, "Legacy Access", port(3306, "10.0.0.0/8", "everything"))
    shared = group(ec2, vpc, "everybody", port(22, "10.0.0.0/8", "bastion"))
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "monitoring.rds.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }
    role = iam.create_role(
        RoleName="OrdersMonitoring",
        AssumeRolePolicyDocument=json.dumps(trust),
        Description="writes metrics",
        Tags=tags(team="payments"),
    )["Role"]["Arn"]
    iam.put_role_policy(
        RoleName="OrdersMonitoring",
        PolicyName="write",
        PolicyDocument=json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"},
                    {
                        "Effect": "Deny",
                        "Action": "s3:*",
                        "Resource": "arn:aws:s3:::home/${aws:username}/*",
                    },
                ],
            }
        ),
    )
    rds.create_db_subnet_group(
        DBSubnetGroupName="Data-Subnets",
        DBSubnetGroupDescription="by hand",
        SubnetIds=subnets["data"],
    )
    rds.create_db_parameter_group(
        DBParameterGroupName="Orders-Params",
        DBParameterGroupFamily="postgres15",
        Description="by hand",
    )
    rds.modify_db_parameter_group(
        DBParameterGroupName="orders-params",
        Parameters=[
            {"ParameterName": "work_mem", "ParameterValue": "65536", "ApplyMethod": "immediate"},
        ],
    )
    common = {"MasterUsername": "root_user", "MasterUserPassword": "not-in-any-manifest"}
    rds.create_db_instance(
        DBInstanceIdentifier="Orders-DB",
        Engine="postgres",
        EngineVersion="15.4",
        DBInstanceClass="db.r6g.large",
        AllocatedStorage=250,
        MaxAllocatedStorage=600,
        StorageType="gp2",
        StorageEncrypted=False,
        DBSubnetGroupName="Data-Subnets",
        DBParameterGroupName="orders-params",
        VpcSecurityGroupIds=[orders],
        DBName="orders",
        BackupRetentionPeriod=3,
        PreferredMaintenanceWindow="Sun:04:00-Sun:05:00",
        PreferredBackupWindow="01:00-02:00",
        AutoMinorVersionUpgrade=False,
        DeletionProtection=False,
        MonitoringInterval=60,
        MonitoringRoleArn=role,
        EnableCloudwatchLogsExports=["postgresql"],
        Tags=tags(team="payments", CostCenter="0815", **{"we:ird key": "yes"}),
        **common,
    )
    rds.create_db_instance(
        DBInstanceIdentifier="legacy",
        Engine="mysql",
        EngineVersion="8.0.35",
        DBInstanceClass="db.m5.large",
        AllocatedStorage=100,
        StorageType="io1",
        Iops=1000,
        PubliclyAccessible=True,
        VpcSecurityGroupIds=[shared, capitals],
        **common,
    )
    rds.create_db_instance(
        DBInstanceIdentifier="of-terraform",
        Engine="postgres",
        EngineVersion="16.1",
        DBInstanceClass="db.t4g.micro",
        AllocatedStorage=20,
        VpcSecurityGroupIds=[shared],
        Tags=tags(ManagedBy="Terraform"),
        **common,
    )
    cluster(rds, orders_free=group(ec2, vpc, "catalog-access"), common=common)
    secrets_and_records(aws)
    buckets(aws, region, role)
    compute(aws, vpc, subnets["web"])


def cluster(rds, orders_free, common):
    rds.create_db_cluster_parameter_group(
        DBClusterParameterGroupName="Catalog-Cluster",
        DBParameterGroupFamily="aurora-postgresql16",
        Description="by hand",
    )
    rds.create_db_cluster(
        DBClusterIdentifier="catalog",
        Engine="aurora-postgresql",
        EngineVersion="16.4",
        DBClusterParameterGroupName="catalog-cluster",
        DBSubnetGroupName="data-subnets",
        VpcSecurityGroupIds=[orders_free],
        StorageEncrypted=True,
        DeletionProtection=True,
        **common,
    )
    for name in ["catalog-a", "Catalog-Reports"]:
        rds.create_db_instance(
            DBInstanceIdentifier=name,
            DBClusterIdentifier="catalog",
            Engine="aurora-postgresql",
            DBInstanceClass="db.r6g.large",
            PromotionTier=0 if name.endswith("a") else 15,
        )


def secrets_and_records(aws):
    secrets, dns, rds = aws["secretsmanager"], aws["route53"], aws["rds"]
    secrets.create_secret(
        Name="orders-db/api-key",
        SecretString="a value that nobody reads",
        Description="of the partner: 100% secret",
        Tags=tags(team="payments"),
    )
    secrets.create_secret(Name="Misc/Old_Key", SecretString="another one")
    zone = dns.create_hosted_zone(Name="example.com", CallerReference="1")["HostedZone"]["Id"]
    found = rds.describe_db_instances(DBInstanceIdentifier="orders-db")["DBInstances"][0]
    endpoint = found["Endpoint"]["Address"]

    def record(name, kind, *values, **more):
        values = [{"Value": value} for value in values]
        return {"Name": name, "Type": kind, "TTL": 60, "ResourceRecords": values, **more}

    records = [
        record("db.example.com", "CNAME", endpoint),
        record("www.example.com", "A", "192.0.2.1", SetIdentifier="East 1", Weight=90),
        record("www.example.com", "A", "192.0.2.2", SetIdentifier="West 1", Weight=10),
        record("example.com", "TXT", '"v=spf1 -all"', '"a \\"quoted\\" word"'),
        record("example.com", "MX", "10 mail.example.com."),
    ]
    changes = [{"Action": "CREATE", "ResourceRecordSet": it} for it in records]
    dns.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": changes})


def buckets(aws, region, role):
    s3 = aws["s3"]

    def bucket(name, **own):
        s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": region})
        if own:
            s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tags(**own)})

    def access(name, *off):
        words = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"]
        block = {word: word not in off for word in words}
        s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=block)

    def policy(name, *statements):
        document = {"Version": "2012-10-17", "Statement": list(statements)}
        s3.put_bucket_policy(Bucket=name, Policy=json.dumps(document))

    bucket("orders-db-exports", team="payments", **{"Cost Center": "0815"})
    access("orders-db-exports")
    controls = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    s3.put_bucket_ownership_controls(Bucket="orders-db-exports", OwnershipControls=controls)
    versions = {"Status": "Enabled"}
    s3.put_bucket_versioning(Bucket="orders-db-exports", VersioningConfiguration=versions)
    arn = "arn:aws:s3:::orders-db-exports"
    writes = {"Effect": "Allow", "Principal": {"AWS": role}, "Action": "s3:PutObject", "Resource": arn + "/*"}
    plain = {"Bool": {"aws:SecureTransport": "false"}}
    denied = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": [arn, arn + "/*"], "Condition": plain}
    policy("orders-db-exports", writes, denied)
    bucket("ledger.archive")
    key = aws["kms"].create_key()["KeyMetadata"]["Arn"]
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default, "BucketKeyEnabled": True}]}
    s3.put_bucket_encryption(Bucket="ledger.archive", ServerSideEncryptionConfiguration=rules)
    moved = [{"Days": 30, "StorageClass": "STANDARD_IA"}, {"Days": 90, "StorageClass": "GLACIER"}]
    chosen = {"And": {"Prefix": "tmp/", "Tags": tags(keep="no")}}
    lifecycle = [
        {"ID": "old.logs", "Status": "Enabled", "Filter": {"Prefix": "logs/"}, "Transitions": moved},
        {"ID": "tmp", "Status": "Disabled", "Filter": chosen, "Expiration": {"Days": 7}},
    ]
    s3.put_bucket_lifecycle_configuration(Bucket="ledger.archive", LifecycleConfiguration={"Rules": lifecycle})
    bucket("www.example.com")
    access("www.example.com", "BlockPublicPolicy", "RestrictPublicBuckets")
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
    policy("www.example.com", {**everybody, "Resource": "arn:aws:s3:::www.example.com/*"})
    bucket("state-of-terraform", ManagedBy="Terraform")


def compute(aws, vpc, subnets):
    ec2, groups = aws["ec2"], aws["autoscaling"]
    image = ec2.describe_images()["Images"][0]["ImageId"]
    access = group(ec2, vpc, "shop-web", port(443, "0.0.0.0/0", "everybody"))

    def template(name, own=(), **data):
        data = {"ImageId": image, "InstanceType": "t4g.small", **data}
        made = {"LaunchTemplateName": name, "LaunchTemplateData": data}
        if own:
            made["TagSpecifications"] = [{"ResourceType": "launch-template", "Tags": own}]
        return ec2.create_launch_template(**made)["LaunchTemplate"]["LaunchTemplateId"]

    def scaling(name, version="$Default", own=(), **more):
        if "template" in more:
            named = {"LaunchTemplateId": more.pop("template"), "Version": version}
            more["LaunchTemplate"] = named
        more = {"MinSize": 0, "MaxSize": 0, "VPCZoneIdentifier": ",".join(subnets), **more}
        own = [{**tag, "PropagateAtLaunch": True} for tag in own]
        groups.create_auto_scaling_group(AutoScalingGroupName=name, Tags=own, **more)

    script = "#!/bin/bash\nset -eu\n\necho \"${HOSTNAME:-none} $PATH\" # not Git's\n"
    disks = [
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30, "VolumeType": "gp3", "Encrypted": True}},
        {"DeviceName": "/dev/sdf", "Ebs": {"VolumeSize": 100}},
    ]
    web = template(
        "Shop-Web_v2",
        own=tags(team="shop"),
        SecurityGroupIds=[access],
        UserData=base64.b64encode(script.encode()).decode(),
        KeyName="ops",
        IamInstanceProfile={"Name": "shop"},
        MetadataOptions={"HttpTokens": "optional", "HttpPutResponseHopLimit": 2},
        BlockDeviceMappings=disks,
    )
    own = tags(team="shop", Name="web")
    sizes = {"MinSize": 1, "MaxSize": 4, "DesiredCapacity": 2}
    scaling("shop-web", own=own, template=web, HealthCheckType="ELB", HealthCheckGracePeriod=90, **sizes)
    own = tags(service="nightly")
    scaling("nightly", own=own, template=template("nightly"), MinSize=1, MaxSize=1)
    shared = template("blue-green")
    scaling("blue", template=shared)
    scaling("green", template=shared)
    scaling("newest", template=template("newest"), version="$Latest")
    mixed = {"LaunchTemplateSpecification": {"LaunchTemplateId": template("spot"), "Version": "$Default"}}
    scaling("spot", MixedInstancesPolicy={"LaunchTemplate": mixed})
    groups.create_launch_configuration(LaunchConfigurationName="old", ImageId=image, InstanceType="t3.small")
    scaling("old", LaunchConfigurationName="old")
    template("unused")


IGNORED = {"TagList", "Tags", "ResponseMetadata", "LatestRestorableTime", "LastAccessedDate", "LastChangedDate"}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in IGNORED}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def parts(s3, name):
    """Returns what a bucket says of itself, part by part."""
    words = ["versioning", "encryption", "lifecycle_configuration", "policy", "ownership_controls"]
    reads = {word: getattr(s3, f"get_bucket_{word}") for word in words}
    reads["access"] = s3.get_public_access_block

    def answer(read):
        try:
            return read(Bucket=name)
        except s3.exceptions.ClientError as error:
            return error.response["Error"]["Code"]

    return {word: answer(read) for word, read in reads.items()}


def state(aws):
    zone = aws["route53"].list_hosted_zones()["HostedZones"][0]["Id"]
    records = aws["route53"].list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
    return plain(
        {
            "instances": aws["rds"].describe_db_instances()["DBInstances"],
            "clusters": aws["rds"].describe_db_clusters()["DBClusters"],
            "groups": aws["ec2"].describe_security_groups()["SecurityGroups"],
            "subnets": aws["rds"].describe_db_subnet_groups()["DBSubnetGroups"],
            "parameters": aws["rds"].describe_db_parameters(DBParameterGroupName="orders-params"),
            "roles": aws["iam"].get_account_authorization_details(Filter=["Role"])["RoleDetailList"],
            "secrets": aws["secretsmanager"].list_secrets()["SecretList"],
            "templates": aws["ec2"].describe_launch_templates()["LaunchTemplates"],
            "versions": aws["ec2"].describe_launch_template_versions(Versions=["$Latest"]),
            "scaling": aws["autoscaling"].describe_auto_scaling_groups()["AutoScalingGroups"],
            "buckets": {it["Name"]: parts(aws["s3"], it["Name"]) for it in aws["s3"].list_buckets()["Buckets"]},
            "records": [it for it in records if not it["Name"].startswith("_levelset-")],
        }
    )


def main(endpoint, region, file=None):
    aws = clients(endpoint, region)
    if file is None:
        return make(aws, region)
    with open(file, "w", encoding="utf-8") as out:
        json.dump(state(aws), out, indent=1, sort_keys=True, default=str)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
