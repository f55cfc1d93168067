"""The page docs/using/serving.md: its repository is served, its commands and its Python are run, in the order of the page.

    guide.py --build build
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

import kserve
import server
from server import package

PAGE = package.ROOT / "docs/using/serving.md"
MOST_LINES = 110


def served(text, build):
    """A server with the settings of the page."""
    model, own = (re.search(pattern, text, re.M | re.S).group(1) for pattern in (r"^```json\n(.*?)^```", r"`(\{[^`]*parallel_workers[^`]*\})`"))
    made = server.Server(build, **{key: value for key, value in kserve.json.loads(own).items() if key != "parallel_workers"})
    settings = kserve.json.loads(model)
    folder = made.add(settings.pop("name"), kserve.mlp(), settings["parameters"].pop("version"), settings.pop("parameters")["extra"], **settings)
    (folder / "model.onnx").rename(folder / "mlp.onnx")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    package.use(build)
    server.need()
    text, counts = PAGE.read_text(), [0, 0]
    with served(text, build) as running:
        running.start()
        ports = {"8080": running.http_port, "8081": running.grpc_port, "8082": running.metrics_port}
        own = lambda code: re.sub(r"localhost:(\d+)", lambda found: f"127.0.0.1:{ports[found.group(1)]}", code)
        for code, command in re.findall(r"^```python\n(.*?)^```|^    (curl [^\n]*)$", text, re.M | re.S):
            if code:
                names = {}
                exec(compile(own(code), str(PAGE), "exec"), names)
                assert names["scores"].shape == (4, 2)
            else:
                subprocess.run([*shlex.split(own(command)), "--fail-with-body", "-o", str(running.folder / "answer")], check=True)
                if "metrics" in command and "ingot_request_seconds_count" not in (running.folder / "answer").read_text():
                    sys.exit("the metrics of the page are not there")
            counts[not code] += 1
    lines = len(text.splitlines())
    print(f"{counts[0]} pieces of Python, {counts[1]} commands, {lines} lines")
    if counts[0] < 1 or counts[1] < 6 or lines > MOST_LINES:
        sys.exit(f"{PAGE}: the page has lost its code, or has grown: two screens are enough")


if __name__ == "__main__":
    main()
