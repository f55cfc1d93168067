"""A page in headless Chromium, served from folders of this machine: what its script sends back."""
import functools
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

PROGRAM = shutil.which("chromium")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"]


def lacks(needs_page):
    """What is missing here to run packages in Node, or on a page, or an empty text."""
    return "node" if not shutil.which("node") else "chromium" if needs_page and not PROGRAM else ""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves `folders`, by the first part of a path, and the page; keeps what is posted."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def __init__(self, *arguments, folders, page, answered, **options):
        self.folders, self.page, self.answered = folders, page, answered
        super().__init__(*arguments, **options)

    def translate_path(self, path):
        first, _, rest = path.lstrip("/").partition("/")
        return str(pathlib.Path(self.folders.get(first, "/nowhere"), rest))

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        body = self.page.encode()
        self.send_response(200), self.send_header("Content-Type", "text/html"), self.send_header("Content-Length", str(len(body))), self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.answered(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204), self.end_headers()

    def end_headers(self):
        """Isolates the page from other origins, so that its workers may share memory."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin"), self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_):
        pass


def ask(script, folders, timeout=300):
    """What a page whose module `script` is posts to /answer (`send` does it), as JSON. RuntimeError where it posts nothing in time."""
    got, done = [], threading.Event()

    def answered(body):
        got.append(json.loads(body))
        done.set()

    page = f"""<!doctype html><title>ingot</title><script type="module">
const send = (value) => fetch("/answer", {{ method: "POST", body: JSON.stringify(value) }});
addEventListener("unhandledrejection", (event) => send({{ failed: String(event.reason?.stack ?? event.reason) }}));
addEventListener("error", (event) => send({{ failed: event.message }}));
{script}
</script>"""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, folders=folders, page=page, answered=answered))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ingot-browser-", ignore_cleanup_errors=True) as profile:
        command = [PROGRAM, *FLAGS, f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"]
        browser = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            done.wait(timeout)
        finally:
            os.killpg(browser.pid, signal.SIGKILL)  # with the processes that it has started
            browser.wait()
            server.shutdown()
    if not got:
        raise RuntimeError(f"the page has sent nothing in {timeout} s")
    if isinstance(got[0], dict) and "failed" in got[0]:
        raise RuntimeError(got[0]["failed"])
    return got[0]
