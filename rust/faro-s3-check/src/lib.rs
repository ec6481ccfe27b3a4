//! Its test reads outputs from a server of S3, which `scripts/s3-check` starts.
