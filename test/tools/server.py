"""ingot by way of build/bin/compile-server, which begins once and forks for each command line: of a small model's 100 ms half."""
import atexit
import os
import pathlib
import subprocess
import tempfile
import threading


class Server:
    """A compile-server of this thread: (exit code, stdout, stderr) of a command line of ingot. A negative code is the signal that ended it, as subprocess has it."""

    servers = {}

    def __init__(self, path):
        self.files = [tempfile.NamedTemporaryFile(prefix="ingot-said-") for _ in range(2)]
        environment = {**os.environ, "LD_BIND_NOW": "1"}
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def run(self, command, seconds=300):
        self.process.stdin.write("\t".join([*(file.name for file in self.files), str(seconds), *map(str, command[1:])]) + "\n")
        self.process.stdin.flush()
        kind, number = self.process.stdout.readline().split()
        out, err = (pathlib.Path(file.name).read_text(errors="replace") for file in self.files)
        return (int(number) if kind == "exit" else -int(number)), out, err

    def compile(self, command):
        """The exit code and what was said."""
        code, _, err = self.run(command)
        return code, err

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    @classmethod
    def of(cls, ingot):
        """The server beside `ingot`, of this thread; None where there is none, or where it would not do as a process of its own does: a library that is preloaded looks at each process."""
        path = pathlib.Path(ingot).resolve().parent / "compile-server"
        if pathlib.Path(ingot).name not in ("ingot", "ingot-with-scalar") or "LD_PRELOAD" in os.environ or not path.exists():
            return None
        key = os.getpid(), threading.get_ident(), str(path)
        if key not in cls.servers:
            cls.servers[key] = cls(path)
            atexit.register(cls.servers[key].close)
        return cls.servers[key]
