//! Hashes of texts.

use sha2::{Digest, Sha256};

/// The SHA-256 of these texts, in hexadecimal.
pub(crate) fn sha256(parts: &[impl AsRef<[u8]>]) -> String {
    let mut hasher = Sha256::new();
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            hasher.update([0]);
        }
        hasher.update(part.as_ref());
    }
    let digest = hasher.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
