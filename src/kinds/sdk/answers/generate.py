"""Writes the full answers of this folder, and how the AWS CLI reads them.

Run with a Python that has botocore: python generate.py

Every member that botocore's description of the API has is set to a value of its own, in XML as AWS
sends it; botocore's parser, which the AWS CLI uses, reads the XML back.
"""

import datetime
import json
import pathlib
import urllib.parse

import botocore.handlers
import botocore.parsers
import botocore.session
from botocore.model import ServiceModel

OPERATIONS = {
    "rds": [
        "DescribeDBInstances",
        "DescribeDBSubnetGroups",
        "DescribeDBParameterGroups",
        "DescribeDBParameters",
        "DescribeDBClusters",
        "DescribeDBClusterParameterGroups",
        "DescribeDBClusterParameters",
        "ListTagsForResource",
    ],
    "ec2": [
        "DescribeVpcs",
        "DescribeSubnets",
        "DescribeSecurityGroups",
        "AuthorizeSecurityGroupIngress",
        "RevokeSecurityGroupIngress",
        "DescribeLaunchTemplates",
        "DescribeLaunchTemplateVersions",
    ],
    "autoscaling": ["DescribeAutoScalingGroups"],
    "iam": ["GetAccountAuthorizationDetails", "ListRoles", "GetRole", "ListRoleTags"],
}
# Newer than the SDK in Cargo.lock.
NOT_IN_THE_SDK = {"PrimaryEndpoint", "VPCNetworkingEnabled", "InternetAccessGatewayEnabled"}
NAMESPACES = {
    "rds": "http://rds.amazonaws.com/doc/2014-10-31/",
    "ec2": "http://ec2.amazonaws.com/doc/2016-11-15/",
    "autoscaling": "http://autoscaling.amazonaws.com/doc/2011-01-01/",
    "iam": "https://iam.amazonaws.com/doc/2010-05-08/",
}


class Writer:
    """Writes a shape as XML, giving every scalar a value of its own."""

    def __init__(self):
        self.lines, self.count = [], 0

    def scalar(self, shape, tag):
        if shape.type_name == "string" and shape.enum:
            return shape.enum[0]
        self.count += 1
        if shape.type_name == "string":
            if shape.name == "policyDocumentType":
                document = {"Version": "2012-10-17", "Id": f"{tag}-{self.count}+ é"}
                return urllib.parse.quote(json.dumps(document))
            # Some texts need escaping.
            text = " &amp; &lt;é&gt;" if self.count % 17 == 0 else ""
            return f"{tag}-{self.count}{text}"
        if shape.type_name == "boolean":
            return "true" if self.count % 2 else "false"
        if shape.type_name == "timestamp":
            fraction = f".{self.count:03}" if self.count % 2 else ""
            return f"2026-11-{1 + self.count % 28:02}T08:09:10{fraction}Z"
        return f"{self.count}.5" if shape.type_name == "double" else str(self.count)

    def write(self, shape, tag, depth):
        indent = "  " * depth
        if shape.type_name == "structure":
            parts = [
                (member.serialization.get("name", name), member)
                for name, member in shape.members.items()
                if name not in NOT_IN_THE_SDK
            ]
        elif shape.type_name == "list":
            parts = [(shape.member.serialization.get("name", "member"), shape.member)]
        else:
            self.lines.append(f"{indent}<{tag}>{self.scalar(shape, tag)}</{tag}>")
            return
        self.lines.append(f"{indent}<{tag}>")
        for name, member in parts:
            self.write(member, name, depth + 1)
        self.lines.append(f"{indent}</{tag}>")


def answer(service, operation, output):
    writer = Writer()
    if service == "ec2":
        writer.write(output, f"{operation}Response", 0)
        writer.lines.insert(1, "  <requestId>0f1e</requestId>")
    else:
        writer.write(output, f"{operation}Result", 1)
        writer.lines.insert(0, f"<{operation}Response>")
        writer.lines.append("  <ResponseMetadata><RequestId>0f1e</RequestId></ResponseMetadata>")
        writer.lines.append(f"</{operation}Response>")
    writer.lines[0] = writer.lines[0].replace(">", f' xmlns="{NAMESPACES[service]}">')
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(writer.lines) + "\n"


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat()
    if isinstance(value, dict):
        # A password is masked, whatever the answer says.
        return {k: "****" if k == "MasterUserPassword" else plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def main():
    folder = pathlib.Path(__file__).parent
    loader = botocore.session.get_session().get_component("data_loader")
    for service, operations in OPERATIONS.items():
        model = ServiceModel(loader.load_service_model(service, "service-2"), service)
        parser = botocore.parsers.create_parser("ec2" if service == "ec2" else "query")
        for operation in operations:
            output = model.operation_model(operation).output_shape
            xml = answer(service, operation, output)
            response = {"status_code": 200, "headers": {}, "body": xml.encode()}
            read = parser.parse(response, output)
            if service == "iam":
                botocore.handlers.json_decode_policies(read, model.operation_model(operation))
            read = plain(read)
            del read["ResponseMetadata"]
            text = json.dumps(read, indent=2, sort_keys=True, ensure_ascii=False)
            (folder / f"{operation}.xml").write_text(xml)
            (folder / f"{operation}.json").write_text(text + "\n")


main()
