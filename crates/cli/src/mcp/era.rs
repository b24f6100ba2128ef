//! The two eras of the protocol. Up to 2025-11-25, `initialize` opens a session; since 2026-07-28,
//! every request names its own protocol version.

use super::message::RpcError;
use serde_json::{Map, Value, json};

/// The supported protocol versions, oldest first.
pub(super) const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
/// The newest version with a handshake.
const NEWEST_WITH_HANDSHAKE: &str = "2025-11-25";
/// The first version without a handshake.
const MODERN: &str = "2026-07-28";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The methods whose results state how long they may be cached.
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// The protocol era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtocolEra {
    /// The request belongs to a session opened by `initialize`.
    Handshake,
    /// The request is self-contained and names its own version.
    Modern,
}

impl ProtocolEra {
    /// Determines the era of a request.
    pub(super) fn from_request(method: &str, parameters: &Value) -> Result<Self, RpcError> {
        let meta = &parameters["_meta"];
        let version = meta.get(VERSION_KEY);
        if method == "initialize" || (version.is_none() && method != "server/discover") {
            return Ok(Self::Handshake);
        }
        let is_there = [
            (VERSION_KEY, version.is_some_and(Value::is_string)),
            (CAPABILITIES_KEY, meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object)),
        ];
        let missing: Vec<&str> =
            is_there.into_iter().filter(|(_, there)| !there).map(|(key, _)| key).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(RpcError::invalid_params(format!(
                "the request's `_meta` must include {missing}"
            )));
        }
        let version = version.and_then(Value::as_str).unwrap_or_default();
        if !VERSIONS.contains(&version) {
            return Err(RpcError::unsupported_version(version, &VERSIONS));
        }
        Ok(if version >= MODERN { Self::Modern } else { Self::Handshake })
    }

    /// Adds the fields that the era requires in a result.
    pub(super) fn add_result_fields(self, method: &str, mut result: Value) -> Value {
        let (Self::Modern, Value::Object(fields)) = (self, &mut result) else { return result };
        fields.insert("resultType".to_owned(), "complete".into());
        if CACHEABLE.contains(&method) {
            fields.insert("ttlMs".to_owned(), 0.into());
            fields.insert("cacheScope".to_owned(), "private".into());
        }
        result
    }
}

/// The version to answer a handshake with.
pub(super) fn negotiate_version(parameters: &Value) -> &str {
    let wanted = parameters["protocolVersion"].as_str().unwrap_or_default();
    match VERSIONS.contains(&wanted) && wanted <= NEWEST_WITH_HANDSHAKE {
        true => wanted,
        false => NEWEST_WITH_HANDSHAKE,
    }
}

/// The client name in the request itself, if there is one.
pub(super) fn client_name(parameters: &Value) -> Option<&str> {
    parameters["_meta"].get(CLIENT_KEY)?.get("name")?.as_str()
}

/// The result of `server/discover`.
pub(super) fn discovery_result(about: Map<String, Value>) -> Value {
    let mut about = about;
    let server = about.shift_remove("serverInfo").unwrap_or_default();
    about.insert("supportedVersions".to_owned(), json!(VERSIONS));
    about.insert("_meta".to_owned(), json!({SERVER_KEY: server}));
    Value::Object(about)
}
