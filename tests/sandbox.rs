//! The sandbox's HTTP door, driven by boto3.
