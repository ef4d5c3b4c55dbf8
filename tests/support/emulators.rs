//! AWS emulators and a fault proxy on loopback, started from their Python environments.
//!
//! `LEVELSET_TEST_TOOLS` names the folder that holds the environments `moto`, `ministack` and
//! `microburst`; without it, `target/test-tools`, which `make test-tools` fills.
//!
//! One instance of each serves the whole test binary. Tests keep apart by region ([`region`]) or by
//! account. An emulator ends when its [`Emulator`] is dropped, or when the test process ends in
//! whatever way: it hangs on a pipe to this process.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

/// How long an emulator may take to answer; on a busy machine Python starts slowly.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs the rest of its arguments and kills that process once the pipe on its input ends. A signal
/// to the whole group (Ctrl-C) ends the reading too.
const LEASH: &str =
    r#"trap : INT TERM HUP; "$@" & child=$!; read -r gone; kill -9 $child; wait $child"#;

/// A running emulator.
#[derive(Debug)]
pub(crate) struct Emulator {
    /// Where it listens, on loopback.
    pub(crate) url: Url,
    leash: Child,
}

/// Returns the moto that all tests share.
pub(crate) fn moto() -> &'static Emulator {
    static SHARED: OnceLock<Emulator> = OnceLock::new();
    SHARED.get_or_init(own_moto)
}

/// Starts a moto for one test, which may change its settings.
pub(crate) fn own_moto() -> Emulator {
    start("moto", "moto_server", "/moto-api/data.json", |command, port| {
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    })
}

/// Returns the ministack that all tests share.
pub(crate) fn ministack() -> &'static Emulator {
    static SHARED: OnceLock<Emulator> = OnceLock::new();
    SHARED.get_or_init(|| {
        start("ministack", "ministack", "/_ministack/health", |command, port| {
            let port = port.to_string();
            let settings =
                [("BIND_HOST", "127.0.0.1"), ("GATEWAY_PORT", &port), ("LOG_LEVEL", "WARNING")];
            command.envs(settings);
        })
    })
}

/// Returns the fault proxy in front of [`moto`] that all tests share.
pub(crate) fn faulty_moto() -> &'static Emulator {
    static SHARED: OnceLock<Emulator> = OnceLock::new();
    SHARED.get_or_init(|| {
        let upstream = moto().url.as_str().trim_end_matches('/');
        start("microburst", "microburst", "/_microburst/health", |command, port| {
            let port = port.to_string();
            command.args(["--host", "127.0.0.1", "--port", &port, "--upstream", upstream]);
        })
    })
}

impl Emulator {
    /// Adds fault rules to a proxy. A rule should name a region, so that it meets one test only.
    pub(crate) async fn add_rules(&self, rules: &Value) {
        let url = self.url.join("/_microburst/rules").unwrap();
        let answer = reqwest::Client::new().patch(url).json(rules).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }

    /// Returns which faults a proxy has put in, as `OPERATION ACTION`, in one region.
    ///
    /// The proxy takes misspelt rules in silence: what a test rests on must be seen here.
    pub(crate) async fn fired(&self, region: &str) -> Vec<String> {
        let url = self.url.join("/_microburst/fired?limit=1000").unwrap();
        let events: Vec<Value> = reqwest::get(url).await.unwrap().json().await.unwrap();
        events
            .iter()
            .filter(|event| event["region"] == region)
            .map(|event| {
                format!(
                    "{} {}",
                    event["operation"].as_str().unwrap_or("?"),
                    event["action"].as_str().unwrap_or("?")
                )
            })
            .collect()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.leash.stdin.take());
        let _ = self.leash.wait();
    }
}

/// Returns a region that no other test of this process was given.
pub(crate) fn region() -> &'static str {
    const REGIONS: [&str; 26] = [
        "us-east-2",
        "us-west-1",
        "us-west-2",
        "ca-central-1",
        "sa-east-1",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "eu-north-1",
        "eu-central-1",
        "ap-south-1",
        "ap-northeast-1",
        "ap-northeast-2",
        "ap-northeast-3",
        "ap-southeast-1",
        "ap-southeast-2",
        "af-south-1",
        "ap-east-1",
        "ap-south-2",
        "ap-southeast-3",
        "ap-southeast-4",
        "ca-west-1",
        "eu-central-2",
        "eu-south-1",
        "eu-south-2",
        "il-central-1",
    ];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    REGIONS.get(next).expect("more tests than regions: use another account")
}

/// Starts a tool on a free port and waits until `ready` is answered.
fn start(
    environment: &str,
    program: &str,
    ready: &str,
    configure: impl Fn(&mut Command, u16),
) -> Emulator {
    let program = find(environment, program);
    // Another process may take the port between its choice and its use.
    for _ in 0..3 {
        let port = free_port();
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{environment}-{port}.log"));
        let mut command = Command::new("sh");
        command.args(["-c", LEASH, "leash"]).arg(&program);
        configure(&mut command, port);
        command.stdin(Stdio::piped());
        command.stdout(File::create(&log).unwrap());
        command.stderr(File::options().append(true).open(&log).unwrap());
        let leash = command.spawn().unwrap();
        let url = Url::parse(&format!("http://127.0.0.1:{port}")).unwrap();
        let emulator = Emulator { url, leash };
        if answers(port, ready, &log) {
            return emulator;
        }
    }
    panic!("{environment} does not start; its output is in {}", env!("CARGO_TARGET_TMPDIR"));
}

fn find(environment: &str, program: &str) -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-tools");
    let tools = std::env::var_os("LEVELSET_TEST_TOOLS").map_or_else(default, PathBuf::from);
    let path = tools.join(environment).join("bin").join(program);
    assert!(
        path.is_file(),
        "{} is not there: run `make test-tools`, or let LEVELSET_TEST_TOOLS name the folder that \
         holds moto, ministack and microburst",
        path.display()
    );
    path
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Waits for a first good answer; gives up early when the port went to somebody else.
#[expect(clippy::disallowed_methods, reason = "a process starts in real time, paused or not")]
fn answers(port: u16, path: &str, log: &Path) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if get(port, path).is_some_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return true;
        }
        if fs::read_to_string(log).is_ok_and(|text| text.to_lowercase().contains("in use")) {
            return false;
        }
        sleep(Duration::from_millis(50));
    }
    false
}

fn get(port: u16, path: &str) -> Option<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Some(String::from_utf8_lossy(&answer).into_owned())
}
