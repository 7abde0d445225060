//! Who the database is: proven, or not asked.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::*;

/// An authority, and a certificate of its for `localhost`.
struct Certificates {
    authority: String,
    certificate: String,
    key: String,
}

fn certificates() -> Certificates {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let signing = KeyPair::generate().unwrap();
    let authority = params.self_signed(&signing).unwrap().pem();
    let issuer = Issuer::new(params, signing);
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    Certificates {
        authority,
        certificate: server.signed_by(&key, &issuer).unwrap().pem(),
        key: key.serialize_pem(),
    }
}

async fn connects(url: &str) -> Result<(), StoreError> {
    PostgresStore::migrate(&PostgresConfig::parse(url).unwrap()).await
}

#[tokio::test]
async fn a_server_proves_who_it_is_when_it_is_asked() {
    let ours = certificates();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let server = PostgresServer::start_with(port, |folder| {
        for (name, content) in [("cert.pem", &ours.certificate), ("key.pem", &ours.key)] {
            let path = folder.join(name);
            std::fs::write(&path, content).unwrap();
            // Others must not read the key, or the server refuses it.
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let file = |name: &str| folder.join(name).display().to_string();
        vec![
            "listen_addresses=127.0.0.1".to_owned(),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("cert.pem")),
            format!("ssl_key_file={}", file("key.pem")),
        ]
    });
    server.database();
    let folder = tempfile::tempdir().unwrap();
    let trusted = |name: &str, pem: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.display().to_string()
    };
    let (ours, others) = (
        trusted("ours.pem", &ours.authority),
        trusted("others.pem", &certificates().authority),
    );
    let url = |host: &str, mode: &str| format!("postgres://homeroom@{host}:{port}/d0?sslmode={mode}");
    connects(&format!("{}&sslrootcert={ours}", url("localhost", "verify-full")))
        .await
        .unwrap();
    connects(&format!("{}&sslrootcert={ours}", url("127.0.0.1", "verify-ca")))
        .await
        .unwrap();
    connects(&url("127.0.0.1", "require")).await.unwrap();
    for (host, mode, root) in [
        ("127.0.0.1", "verify-full", &ours),
        ("localhost", "verify-full", &others),
        ("localhost", "verify-ca", &others),
    ] {
        let refused = connects(&format!("{}&sslrootcert={root}", url(host, mode))).await;
        assert!(
            matches!(refused, Err(StoreError::Away(_) | StoreError::Database(_))),
            "{host} {mode}: {refused:?}"
        );
    }
}
