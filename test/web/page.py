"""What docs/web.md says, as it stands there: its files are written, its commands run and print what the page shows, and its HTML page is opened in
headless Chromium where there is one.

    page.py --ingot build/bin/ingot [--chromium]
"""
import os
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

SOURCES = HERE.parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r"(?://|<!--) (\S+)")  # the first line of a file


def blocks():
    """(language, text) of the page's blocks of code."""
    return BLOCK.findall((SOURCES / "docs/web.md").read_text())


def run_commands(folder, environment):
    """Writes the files and runs the commands, in their order. Returns what is wrong, or None."""
    printed = ""
    for language, text in blocks():
        if language in ("js", "html"):
            (folder / NAMED.match(text).group(1)).write_text(text)
        elif language == "sh":
            done = subprocess.run(["sh", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            if done.returncode:
                return f"{text.strip()}: exit {done.returncode}: {done.stderr}"
            printed = done.stdout
        elif language == "text" and printed != text:
            return f"printed {printed!r}, and the page shows {text!r}"
    return None


def open_page(folder):
    """What the page shows when its model has run."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(browser.Handler, folders={"files": folder}, page="", answered=None))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="ingot-browser-", ignore_cleanup_errors=True) as profile:
        command = [browser.PROGRAM, *browser.FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--dump-dom", f"http://127.0.0.1:{server.server_port}/files/page.html"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)
    server.shutdown()
    shown = re.search(r'<output id="y">([^<]*)</output>', done.stdout)
    return None if shown and shown.group(1) == "1.00" else f"the page is {done.stdout}{done.stderr[-500:]}"


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--chromium", action="store_true"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := browser.lacks(arguments.chromium):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    environment = {**os.environ, "PATH": f"{pathlib.Path(arguments.ingot).resolve().parent}:{os.environ['PATH']}"}
    count = ingot_run.Count("web")
    with tempfile.TemporaryDirectory(prefix="ingot-web-") as scratch:
        folder = pathlib.Path(scratch)
        shutil.copy(SOURCES / "examples/firmware/sine.onnx", folder)
        count.add("commands", run_commands(folder, environment))
        if arguments.chromium:
            count.add("page", open_page(folder))
    count.finish()


if __name__ == "__main__":
    main()
