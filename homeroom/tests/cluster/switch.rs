//! An address that leads to one server, then to another one, or nowhere: what a failover does to a service's name.

use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Forwards connections. Those that are open end when the way changes.
pub(crate) struct Switch {
    port: u16,
    to: Arc<watch::Sender<Option<u16>>>,
    serving: JoinHandle<()>,
}

impl Switch {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let to = Arc::new(watch::Sender::new(Some(port)));
        let way = Arc::clone(&to);
        let serving = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(forward(client, way.subscribe()));
            }
        });
        Self {
            port: own,
            to,
            serving,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections; new ones lead there, or are closed at once.
    pub(crate) fn lead(&self, to: Option<u16>) {
        self.to.send_replace(to);
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn forward(mut client: TcpStream, mut way: watch::Receiver<Option<u16>>) {
    let to = *way.borrow_and_update();
    let Some(to) = to else { return };
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", to)).await else {
        return;
    };
    tokio::select! {
        // However it ended.
        _ended = copy_bidirectional(&mut client, &mut server) => {}
        _changed_or_gone = way.changed() => {}
    }
}
