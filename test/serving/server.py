"""What the tests of serving share: a repository of models, and MLServer on it as a process of its own."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/python"))
import package

START = "from mlserver.cli import main; main()"
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def need():
    """The test counts as skipped where MLServer or Triton's clients are not installed."""
    package.need("mlserver", "tritonclient", "geventhttpclient", "grpc", "setuptools", "wheel")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Server:
    """MLServer on a repository in a temporary folder; its log is in the file `log` there.

    add() writes a model, start() starts the server and waits for the models, stop() ends it by a signal and gives its exit code."""

    def __init__(self, build, workers=0, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ingot-serving-"))
        self.repository = self.folder / "models"
        self.http_port, self.grpc_port, self.metrics_port = free_ports(3)
        ports = {"host": "127.0.0.1", "http_port": self.http_port, "grpc_port": self.grpc_port, "metrics_port": self.metrics_port}
        self.settings = {**ports, "parallel_workers": workers, "debug": False, "metrics_dir": str(self.folder / "metrics"), "environments_dir": str(self.folder / "environments"), **settings}
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(build / "python"), str(ROOT / "python/mlserver"), str(ROOT / "bench"), str(ROOT / "test/serving"), os.environ.get("PYTHONPATH", "")])}
        self.process, self.started = None, []

    def add(self, name, model=None, version=None, extra=None, implementation="ingot_mlserver.IngotRuntime", uri=None, **settings):
        """A folder with model-settings.json, and model.onnx: a ModelProto's, or a copy of a path."""
        folder = self.repository / name / (version or "")
        folder.mkdir(parents=True, exist_ok=True)
        if hasattr(model, "SerializeToString"):
            (folder / "model.onnx").write_bytes(model.SerializeToString())
        elif model is not None:
            shutil.copy(model, folder / "model.onnx")
        parameters = {"extra": extra or {}, **({"version": version} if version else {}), **({"uri": str(uri)} if uri else {})}
        text = json.dumps({"name": name, "implementation": implementation, "parameters": parameters, **settings})
        (folder / "model-settings.json").write_text(text)
        self.started.append((name, version))
        return folder

    def start(self, seconds=120):
        (self.repository / "settings.json").write_text(json.dumps(self.settings))
        command = [sys.executable, "-c", START, "start", str(self.repository)]
        ends = lambda: ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGTERM)
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, preexec_fn=ends)
        end = time.monotonic() + seconds
        for name, version in self.started:
            while self.status(f"/v2/models/{name}{f'/versions/{version}' if version else ''}/ready") != 200:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the server does not serve {name}:\n{self.text()[-3000:]}")
                time.sleep(0.05)
        return self

    def text(self):
        return (self.folder / "log").read_text(errors="replace")

    def call(self, path, body=None, port=None, headers=()):
        """(status, bytes) of a request by HTTP; a body makes it a POST."""
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        request = urllib.request.Request(f"http://127.0.0.1:{port or self.http_port}{path}", data, {"Content-Type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def status(self, path):
        try:
            return self.call(path)[0]
        except OSError:  # it does not listen yet
            return 0

    def children(self):
        """The processes of MLServer's workers."""
        task = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in task.read_text().split() if b"resource_tracker" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

    def resident(self):
        """Bytes of memory that the server and its workers have."""
        pids = [self.process.pid, *self.children()]
        return sum(int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * os.sysconf("SC_PAGE_SIZE")

    def stop(self, sign=signal.SIGTERM, seconds=60):
        self.process.send_signal(sign)
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process and self.process.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
