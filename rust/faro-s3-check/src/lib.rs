//! What the testee and the test share: a bucket of a server of S3.

use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, S3CopyIfNotExists};
use std::sync::Arc;

/// The variable of the environment with the address of a server of S3 that has a bucket `faro`.
pub const ENDPOINT: &str = "FARO_S3_ENDPOINT";

/// The bucket `faro` of the server; none if the environment names no server.
///
/// # Panics
/// If the client cannot be made.
pub fn bucket() -> Option<Arc<dyn ObjectStore>> {
    let store = AmazonS3Builder::new()
        .with_endpoint(std::env::var(ENDPOINT).ok()?)
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_access_key_id("faro")
        .with_secret_access_key("faro")
        .with_bucket_name("faro")
        .with_copy_if_not_exists(S3CopyIfNotExists::Multipart)
        .build()
        .expect("a client of S3");
    Some(Arc::new(store))
}
