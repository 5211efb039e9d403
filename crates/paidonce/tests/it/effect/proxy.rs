//! A TCP proxy before a broker that tests share: cutting it is what a restart of the broker looks like from here.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct State {
    /// New connections are closed at once.
    cut: AtomicBool,
    /// The next thing that the broker says is lost, and its connection with it.
    losing: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

pub(super) struct Proxy {
    pub(super) port: u16,
    state: Arc<State>,
}

impl Proxy {
    pub(super) fn to(host: String, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                if shared.cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect((host.as_str(), port)).unwrap();
                shared
                    .open
                    .lock()
                    .unwrap()
                    .extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let back = (server.try_clone().unwrap(), client.try_clone().unwrap(), shared.clone());
                std::thread::spawn(move || pump(client, server, None));
                std::thread::spawn(move || pump(back.0, back.1, Some(&back.2)));
            }
        });
        Self { port: here, state }
    }

    /// Ends all connections, and takes no new ones.
    pub(super) fn cut(&self) {
        self.state.cut.store(true, Ordering::SeqCst);
        for socket in self.state.open.lock().unwrap().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    pub(super) fn restore(&self) {
        self.state.cut.store(false, Ordering::SeqCst);
    }

    /// Loses the broker's next answer, and its connection with it: what it answers to has arrived.
    pub(super) fn lose_the_answer(&self) {
        self.state.losing.store(true, Ordering::SeqCst);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, answers: Option<&State>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let lost = answers.is_some_and(|state| state.losing.swap(false, Ordering::SeqCst));
        if lost || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
