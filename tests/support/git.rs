//! Git repositories made with the `git` program, and servers for them on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

/// Runs `git` in a folder, apart from the configuration of the user, and returns what it prints.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    git_with(folder, arguments, b"")
}

/// Does what [`git`] does, with something on its standard input.
pub(crate) fn git_with(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = command(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).envs([
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.com"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.com"),
    ]);
    command
}

/// Holds a work tree on branch `main`, in a folder of its own.
pub(crate) struct Repo {
    folder: TempDir,
}

impl Repo {
    /// Makes an empty repository.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main", "r"]);
        Self { folder }
    }

    /// Makes a repository with one commit of `files`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        repo.commit(files);
        repo
    }

    /// Returns the work tree.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("r")
    }

    /// Returns the folder that holds the work tree under the name `r`.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `git` in the work tree.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Writes files and commits everything; returns the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            let path = self.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.commit_all()
    }

    /// Commits the work tree as it is; returns the commit.
    pub(crate) fn commit_all(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }
}

/// Says how an HTTP server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Serves the repositories of a folder.
    Serve,
    /// Does so for this user and password only.
    Auth(&'static str, &'static str),
    /// Sends everyone to this base URL.
    Redirect(String),
    /// Answers with this status.
    Status(u16),
    /// Answers with a web page.
    WebPage,
    /// Accepts connections and says nothing.
    Silent,
    /// Sends its answer one byte at a time, for ever.
    Trickle,
    /// Lists the branches and then sends the objects one byte at a time.
    TricklePack,
}

/// Serves Git over HTTP through `git http-backend`, on a free port.
pub(crate) struct HttpServer {
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    authorizations: Arc<Mutex<Vec<String>>>,
}

impl HttpServer {
    /// Serves the repositories under `root`.
    pub(crate) fn start(root: &Path, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            behaviour: Arc::new(Mutex::new(behaviour)),
            authorizations: Arc::default(),
        };
        let (behaviour, root) = (Arc::clone(&server.behaviour), root.to_owned());
        let authorizations = Arc::clone(&server.authorizations);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behaviour, root) = (Arc::clone(&behaviour), root.clone());
                let authorizations = Arc::clone(&authorizations);
                std::thread::spawn(move || {
                    let behaviour = behaviour.lock().unwrap().clone();
                    // A client that goes away is what some tests are about.
                    let _ = answer(stream, &behaviour, &root, &authorizations);
                });
            }
        });
        server
    }

    /// Changes how later connections are answered.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    /// Returns the URL of the work tree `r` at this server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/r", self.address)
    }

    /// Returns the TCP port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the `Authorization` headers that arrived.
    pub(crate) fn authorizations(&self) -> Vec<String> {
        self.authorizations.lock().unwrap().clone()
    }
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { method, path: path.to_owned(), query: query.to_owned(), headers, body })
}

fn answer(
    stream: TcpStream,
    behaviour: &Behaviour,
    root: &Path,
    authorizations: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    if *behaviour == Behaviour::Silent {
        // Ends when the client goes away.
        return BufReader::new(stream).read_to_end(&mut Vec::new()).map(drop);
    }
    let request = read_request(&mut BufReader::new(stream))?;
    let authorization = request.headers.get("authorization").cloned();
    authorizations.lock().unwrap().extend(authorization.clone());
    let page = "content-type: text/html\r\n";
    match behaviour {
        Behaviour::Status(status) => respond(&mut out, *status, page, b"no"),
        Behaviour::WebPage => respond(&mut out, 200, page, b"<html>"),
        Behaviour::Redirect(base) => {
            let to = format!("location: {base}{}?{}\r\n", request.path, request.query);
            respond(&mut out, 302, &to, b"")
        }
        Behaviour::Auth(user, password) if authorization != Some(basic(user, password)) => {
            respond(&mut out, 401, "www-authenticate: Basic realm=\"git\"\r\n", b"")
        }
        Behaviour::Trickle => trickle(&mut out, "application/x-git-upload-pack-advertisement"),
        Behaviour::TricklePack if request.method == "POST" => {
            trickle(&mut out, "application/x-git-upload-pack-result")
        }
        _ => http_backend(&mut out, &request, root),
    }
}

/// Returns the header of basic authentication (RFC 7617).
pub(crate) fn basic(user: &str, password: &str) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    format!("Basic {text}")
}

fn respond(out: &mut TcpStream, status: u16, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    )?;
    out.write_all(body)
}

fn trickle(out: &mut TcpStream, kind: &str) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: 1000000\r\n\r\n")?;
    // Packet lines that never become complete: the header promises more than arrives.
    out.write_all(b"fff0")?;
    loop {
        out.write_all(b"x")?;
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn http_backend(out: &mut TcpStream, request: &Request, root: &Path) -> std::io::Result<()> {
    let mut child = command(root)
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", request.headers.get("content-type").map_or("", String::as_str))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().unwrap().write_all(&request.body)?;
    let output = child.wait_with_output()?.stdout;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(0);
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head
        .lines()
        .find_map(|line| line.strip_prefix("Status: "))
        .and_then(|text| text.get(..3)?.parse().ok())
        .unwrap_or(200);
    let headers: String = head
        .lines()
        .filter(|line| !line.starts_with("Status:"))
        .map(|line| format!("{line}\r\n"))
        .collect();
    respond(out, status, &headers, &output[end + 4..])
}

/// Ends a process that this test started.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Puts TLS in front of an HTTP server, with a certificate of a private authority.
pub(crate) struct TlsProxy {
    folder: TempDir,
    port: u16,
    _process: Owned,
}

const TLS_PROXY: &str = r"
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('server.pem', 'server.key')
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def serve(raw):
    try:
        client = context.wrap_socket(raw, server_side=True)
        server = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    except OSError:
        return
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)
    client.close()
while True:
    raw, _ = listener.accept()
    threading.Thread(target=serve, args=(raw,), daemon=True).start()
";

impl TlsProxy {
    /// Starts it in front of `server`; needs `openssl` and `python3`.
    pub(crate) fn start(server: &HttpServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
        for line in [
            "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 2",
            "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names",
        ] {
            let output = Command::new("openssl")
                .args(line.split(' '))
                .current_dir(folder.path())
                .output()
                .expect("openssl runs (package openssl)");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut process = Command::new("python3")
            .args(["-c", TLS_PROXY, &server.port().to_string()])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs (package python3)");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { folder, port: line.trim().parse().unwrap(), _process: Owned(process) }
    }

    /// Returns the HTTPS URL of the work tree `r`.
    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}/r", self.port)
    }

    /// Returns the certificate of the authority.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

/// Holds a real OpenSSH server on a free port, with its own host key and one allowed user key.
pub(crate) struct Sshd {
    folder: TempDir,
    port: u16,
    user: String,
    _process: Owned,
}

const SSHD: &str = "/usr/sbin/sshd";

impl Sshd {
    /// Starts the server; the test fails when OpenSSH's server is not installed.
    pub(crate) fn start() -> Self {
        assert!(
            Path::new(SSHD).exists(),
            "{SSHD} is missing: install the package openssh-server, these tests do not skip"
        );
        let folder = tempfile::tempdir().unwrap();
        // sshd refuses keys below folders that others may write.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        for name in ["host", "user", "stranger"] {
            ssh_keygen(&folder.path().join(name));
        }
        std::fs::copy(folder.path().join("user.pub"), folder.path().join("authorized")).unwrap();
        let user = run("id", &["-un"]);
        let (port, process) = Self::listen(&folder);
        Self { folder, port, user, _process: process }
    }

    fn listen(folder: &TempDir) -> (u16, Owned) {
        // Another process may take the port between the two binds: then the next one is tried.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let at = folder.path().display();
            let config = format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nPidFile none\n\
                 AuthorizedKeysFile {at}/authorized\nStrictModes no\nUsePAM no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 PermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\n"
            );
            std::fs::write(folder.path().join("config"), config).unwrap();
            if run("id", &["-u"]) == "0" {
                // The empty folder of sshd's privilege separation; its package makes it at boot.
                std::fs::create_dir_all("/run/sshd").unwrap();
            }
            let process = Command::new(SSHD)
                .args(["-D", "-e", "-f"])
                .arg(folder.path().join("config"))
                .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
                .spawn()
                .unwrap();
            let mut process = Owned(process);
            for _ in 0..200 {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return (port, process);
                }
                if process.0.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        panic!("sshd does not listen: {log}");
    }

    /// Returns the URL of a repository at an absolute path.
    pub(crate) fn url(&self, path: &Path) -> String {
        format!("ssh://{}@127.0.0.1:{}{}", self.user, self.port, path.display())
    }

    /// Returns the private key that the server accepts.
    pub(crate) fn key(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("user")).unwrap()
    }

    /// Returns a private key that the server does not know.
    pub(crate) fn strange_key(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stranger")).unwrap()
    }

    /// Returns the fingerprint of the host key, as `ssh-keygen -l` prints it.
    pub(crate) fn fingerprint(&self) -> String {
        let key = self.folder.path().join("host.pub");
        let line = run("ssh-keygen", &["-l", "-f", key.to_str().unwrap()]);
        line.split(' ').nth(1).unwrap().to_owned()
    }

    /// Writes a known hosts file with these lines and returns its path.
    pub(crate) fn known_hosts(&self, lines: &str) -> PathBuf {
        let path = self.folder.path().join("known_hosts");
        std::fs::write(&path, format!("{lines}\n")).unwrap();
        path
    }

    /// Returns the line of the known hosts file for another key on this host.
    pub(crate) fn line_with_another_key(&self) -> String {
        let key = std::fs::read_to_string(self.folder.path().join("stranger.pub")).unwrap();
        format!("[127.0.0.1]:{} {key}", self.port)
    }
}

fn ssh_keygen(path: &Path) {
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path.to_str().unwrap()]);
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Returns the processes whose environment mentions `text`: the fetch children of a state directory.
pub(crate) fn processes_with(text: &Path) -> Vec<u32> {
    let text = text.to_str().unwrap().as_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.windows(text.len()).any(|part| part == text) {
            found.push(id);
        }
    }
    found
}
