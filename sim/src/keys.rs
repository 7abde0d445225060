//! Keys of a run: the same for every process, as operators configure them.

use game_server::Keys;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use protocol::claims::{AUDIENCE_TEACHER, ISSUER, TeacherClaims};
use protocol::ids::TeacherId;
use runtime::secret::Secret;
use uuid::Uuid;

const SECRET: &[u8] = b"a secret of the simulation, 32 bytes or more";
const KID: &str = "sim";
/// Past every run, and past every clock of a machine that runs one.
const EXPIRY_S: u64 = 4_200_000_000;

/// The teacher of every run.
pub(crate) const TEACHER: TeacherId = TeacherId(Uuid::from_u128(2));

/// An Ed25519 key as PKCS #8: a fixed head and 32 bytes of seed.
fn signing_key() -> EncodingKey {
    let mut der = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ];
    der.extend([1; 32]);
    EncodingKey::from_ed_der(&der)
}

/// What a server verifies and signs with.
pub(crate) fn server_keys() -> Keys {
    let mut set = JwkSet { keys: Vec::new() };
    if let Ok(mut jwk) = Jwk::from_encoding_key(&signing_key(), Algorithm::EdDSA) {
        jwk.common.key_id = Some(KID.to_owned());
        set.keys.push(jwk);
    }
    Keys::new(&set, SECRET).expect("a key and a secret of the right kind")
}

/// What the servers of a cluster know each other by.
pub(crate) fn peer_secret() -> Secret {
    Secret::given(SECRET).expect("a secret that is long enough")
}

/// The teacher's access token.
pub(crate) fn teacher_token() -> String {
    let claims = TeacherClaims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE_TEACHER.to_owned(),
        sub: TEACHER,
        exp: EXPIRY_S,
        players_max: 50,
    };
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(KID.to_owned());
    jsonwebtoken::encode(&header, &claims, &signing_key()).expect("a key of the right kind")
}
