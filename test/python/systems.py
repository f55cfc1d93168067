"""The wheels on other systems: installed by pip into an environment of a Debian or Ubuntu that lies in a folder (debootstrap), where six lines compile and run a
model, and the compiler runs as a program. By hand and as root, since it enters these folders by chroot and pip fetches numpy:

    debootstrap --include=python3,python3-venv,ca-certificates jammy ROOT http://archive.ubuntu.com/ubuntu
    systems.py --wheels DIST ROOT...

Prints for each system its name, glibc and Python, which wheel pip took, the seconds from nothing to the first result."""
import argparse
import pathlib
import re
import shutil
import ssl
import time

import package
import wheel

HERE = "root/ingot-wheel"  # within a system


def within(root, *command):
    """What a command says that runs in the system below root."""
    return wheel.call("chroot", root, "env", "-i", "HOME=/root", "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", f"PIP_CERT=/{HERE}/certificates.pem", "sh", "-c", f'cd /{HERE} && exec "$@"', "sh", *command)


def tried(root, wheels, python):
    """One line about the system below root, or an exception of wheel.call."""
    shutil.rmtree(root / HERE, ignore_errors=True)
    (root / HERE).mkdir()
    for each in wheels:
        shutil.copy(each, root / HERE)
    shutil.copy(package.ROOT / "examples/c/celsius.onnx", root / HERE)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copy(ssl.get_default_verify_paths().cafile, root / HERE / "certificates.pem")  # a mirror may have its own
    name = re.search(r'PRETTY_NAME="(.+)"', (root / "etc/os-release").read_text())[1]
    glibc = within(root, "ldd", "--version").split("\n")[0].split()[-1]
    version = within(root, python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()
    begin = time.monotonic()
    within(root, python, "-m", "venv", "venv")
    within(root, "venv/bin/pip", "install", "numpy")
    said = within(root, "venv/bin/pip", "install", "--no-index", "--find-links", ".", "ingot")
    result = within(root, "venv/bin/python", "-c", wheel.SIX_LINES).strip()
    seconds = time.monotonic() - begin
    taken = re.search(r"ingot-[\w.]+-(\w+-\w+-manylinux_2_\d+)", said)[1]
    within(root, "venv/bin/ingot", "compile", "celsius.onnx", "-o", "out")
    return f"{name}, glibc {glibc}, {version}: {taken}, {seconds:.0f} s to the first result, {result}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=pathlib.Path, required=True), parser.add_argument("--python", default="python3"), parser.add_argument("roots", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    for root in map(pathlib.Path.resolve, given.roots):
        mounted = (root / "proc/self").exists()
        if not mounted:
            wheel.call("mount", "-t", "proc", "proc", root / "proc")
        try:
            print(tried(root, sorted(given.wheels.glob("*.whl")), given.python), flush=True)
        finally:
            if not mounted:
                wheel.call("umount", root / "proc")


if __name__ == "__main__":
    main()
