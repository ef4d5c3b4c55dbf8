"""Makes the VPCs that manifests-example refers to, in an emulator of AWS.

    seed.py http://127.0.0.1:5555
"""

import sys

import boto3

VPCS = {
    "eu-west-1": ["shared-prod-vpc", "Analytics / Production"],
    "eu-west-2": ["staging-vpc"],
}


def seed(client, region, number, name):
    network = f"10.{number}"
    vpc = client.create_vpc(CidrBlock=f"{network}.0.0/16")["Vpc"]["VpcId"]
    client.create_tags(Resources=[vpc], Tags=[{"Key": "Name", "Value": name}])
    for index, zone in enumerate("abc"):
        subnet = client.create_subnet(
            VpcId=vpc,
            CidrBlock=f"{network}.{index}.0/24",
            AvailabilityZone=f"{region}{zone}",
        )["Subnet"]["SubnetId"]
        client.create_tags(Resources=[subnet], Tags=[{"Key": "tier", "Value": "data"}])
    print(f"{region}: {name} is {vpc}")


def main(endpoint):
    for region, names in VPCS.items():
        client = boto3.client(
            "ec2",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        for number, name in enumerate(names):
            seed(client, region, number, name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
