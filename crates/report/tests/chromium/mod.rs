//! A headless browser, driven through its DevTools pipe: commands and answers are JSON, each ended
//! by a zero byte, on file descriptors 3 and 4.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// The browser that `CHROME` names, or the first on the path; none: the test has nothing to do.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROME") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: no browser. Install chromium, or name one in CHROME.");
    }
    found
}

pub(crate) struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    session: Option<String>,
    next_id: u64,
    /// What the browser told without being asked.
    pub(crate) events: Vec<Value>,
    _folder: TempDir,
}

impl Browser {
    pub(crate) fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [commands, answers] = ["commands", "answers"].map(|name| folder.path().join(name));
        for pipe in [&commands, &answers] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        // Opened for both, so that opening waits for nobody.
        let open = |path| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(path)
                .unwrap()
        };
        let (to, from) = (open(&commands), open(&answers));
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\""])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .env("COMMANDS", &commands)
            .env("ANSWERS", &answers)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut bytes = Vec::new();
            while from.read_until(0, &mut bytes).is_ok_and(|count| count > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
        let mut browser = Self {
            child,
            commands: to,
            messages,
            session: None,
            next_id: 0,
            events: Vec::new(),
            _folder: folder,
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .find(|target| target["type"] == "page")
            .unwrap()["targetId"]
            .clone();
        let attach = json!({"targetId": page, "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = Some(session["sessionId"].as_str().unwrap().into());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1280, 900);
        browser
    }

    fn receive(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap()
    }

    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let mut command = json!({"id": self.next_id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&command).unwrap();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let mut message = self.receive();
            if message["id"] == self.next_id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    pub(crate) fn open(&mut self, page: &Path) {
        self.events.clear();
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", json!({"url": url}));
        while !self.told("Page.loadEventFired").any(|_| true) {
            let message = self.receive();
            self.events.push(message);
        }
        // Charts are drawn when the browser has measured their places.
        self.wait_for("document.querySelectorAll('.chart svg path').length > 0");
    }

    /// Events of a kind since the page was opened.
    pub(crate) fn told(&self, method: &'static str) -> impl Iterator<Item = &Value> {
        let of_kind = move |event: &&Value| event["method"] == method;
        self.events.iter().filter(of_kind)
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", parameters);
        let failed = &answer["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        answer["result"]["value"].take()
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
            .into()
    }

    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
    }

    pub(crate) fn wait_for(&mut self, condition: &str) {
        let started = Instant::now();
        while self.eval(condition) != true {
            assert!(started.elapsed() < PATIENCE, "never true: {condition}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The middle of an element, after it was scrolled into view and the page drawn there.
    fn middle(&mut self, selector: &str) -> (f64, f64) {
        let box_of = format!(
            "(async () => {{ const found = document.querySelector({selector:?}); \
             found.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             for (const _ of [1, 2]) await new Promise(requestAnimationFrame); \
             const box = found.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let spot = self.eval(&box_of);
        (spot[0].as_f64().unwrap(), spot[1].as_f64().unwrap())
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event);
    }

    pub(crate) fn click(&mut self, selector: &str) {
        let spot = self.middle(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, spot);
        }
    }

    pub(crate) fn hover(&mut self, selector: &str) {
        let spot = self.middle(selector);
        self.mouse("mouseMoved", spot);
    }

    pub(crate) fn press(&mut self, key: &str) {
        // What a key does by itself follows from its number and its text.
        let (number, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            " " => (32, " "),
            _ => (0, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key});
            if number > 0 {
                event["windowsVirtualKeyCode"] = number.into();
            }
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Lets the page write files there.
    pub(crate) fn download_to(&mut self, folder: &Path) {
        let wish = json!({"behavior": "allow", "downloadPath": folder});
        self.call("Page.setDownloadBehavior", wish);
    }

    pub(crate) fn prefer_dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let feature = json!({"name": "prefers-color-scheme", "value": value});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Complaints of the page and requests to anywhere but its own file.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let errors = [
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
        ];
        let errors = errors.into_iter().flat_map(|kind| self.told(kind));
        let errors = errors.map(ToString::to_string);
        let requests = self.told("Network.requestWillBeSent").filter_map(|event| {
            let url = event["params"]["request"]["url"].as_str().unwrap();
            let own = url.starts_with("file://") && event["params"]["type"] == "Document";
            let made_here = ["data:", "blob:"].iter().any(|kind| url.starts_with(kind));
            (!own && !made_here).then(|| format!("asked for {url}"))
        });
        errors.chain(requests).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Best effort: it may be gone already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
