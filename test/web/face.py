"""The page of examples/face in headless Chromium: its three networks as a package for npm find the face of the example's picture.

    face.py --ingot build/bin/ingot --models FOLDER

The folder has pnet.onnx, rnet.onnx and onet.onnx, as examples/face/fetch.py puts them there; it is called where one is missing. What the page says is
what the example's program says of the same picture.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import ThreadingHTTPServer

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import browser
import ingot_run

EXAMPLE = HERE.parents[1] / "examples/face"
BEGINNING = "choose a picture"
EXPECTED = r"face at x 70\.\.113, y 32\.\.86, probability 0\.99[34]\nfaces found: 1"


def bitmap(path):
    """A binary PPM as a BMP, which browsers read."""
    head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data := path.read_bytes())
    width, height = int(head.group(1)), int(head.group(2))
    rows = [data[head.end() + 3 * width * y :][: 3 * width] for y in reversed(range(height))]
    padded = b"".join(b"".join(row[3 * x : 3 * x + 3][::-1] for x in range(width)) + bytes(-3 * width % 4) for row in rows)
    number = lambda value, size=4: value.to_bytes(size, "little")
    info = number(40) + number(width) + number(height) + number(1, 2) + number(24, 2) + number(0) + number(len(padded)) + bytes(16)
    return b"BM" + number(54 + len(padded)) + bytes(4) + number(54) + info + padded


def shown(folder):
    """What the page says of the picture."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(browser.Handler, folders={"files": folder}, page="", answered=None))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ingot-browser-", ignore_cleanup_errors=True) as profile:
        page = f"http://127.0.0.1:{server.server_port}/files/index.html#picture.bmp"
        command = [browser.PROGRAM, *browser.FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=60000", "--dump-dom", page]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)
    server.shutdown()
    found = re.search(r'<pre id="answer">([^<]*)</pre>', done.stdout)
    return found.group(1) if found else f"{done.stdout}{done.stderr[-500:]}"


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--models", type=pathlib.Path, required=True), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := browser.lacks(True):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    networks = [arguments.models / f"{name}.onnx" for name in ("pnet", "rnet", "onet")]
    if not all(path.exists() for path in networks) and subprocess.run([sys.executable, EXAMPLE / "fetch.py", arguments.models]).returncode:
        print("skipped: the networks cannot be fetched")
        sys.exit(77)
    count = ingot_run.Count("web")
    with tempfile.TemporaryDirectory(prefix="ingot-face-") as scratch:
        folder = pathlib.Path(scratch)
        for path in (EXAMPLE / "page").iterdir():
            shutil.copy(path, folder)
        (folder / "picture.bmp").write_bytes(bitmap(EXAMPLE / "astronaut.ppm"))
        done = subprocess.run([arguments.ingot, "package", *networks, "--for", "npm", "-o", folder / "models"], capture_output=True, text=True)
        said = shown(folder) if done.returncode == 0 else done.stderr
        for _ in range(2):  # virtual time runs out on a busy machine, while the browser compiles modules: the page then shows how it began
            said = shown(folder) if said == BEGINNING else said
        count.add("face", None if re.fullmatch(EXPECTED, said) else f"the page says {said!r}")
    count.finish()


if __name__ == "__main__":
    main()
