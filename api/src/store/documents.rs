//! Documents that a store keeps as JSON text.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;

/// A value as JSON text. Our own documents have no map with other keys than strings, so this cannot fail.
pub(super) fn to_json<T: Serialize>(value: &T, column: &'static str) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::Corrupt { column })
}

/// The value again.
pub(super) fn from_json<T: DeserializeOwned>(text: &str, column: &'static str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt { column })
}
