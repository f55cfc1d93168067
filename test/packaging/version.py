"""One version everywhere: CMakeLists.txt, `ingot --version`, the Python package, the newest release in CHANGELOG.md, and its fixtures (test/compatibility); and the numbers that
docs/compatibility.md names are those of the headers.

    version.py --ingot build/bin/ingot"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def found(path, pattern):
    """The first group of the first match in a file."""
    match = re.search(pattern, (ROOT / path).read_text(), flags=re.M)
    return match[1] if match else f"nothing like {pattern}"


def differences(ingot):
    version = found("CMakeLists.txt", r"^project\(ingot VERSION (\S+)")
    said = subprocess.run([ingot, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    if said != version:
        yield f"ingot --version says {said}, CMakeLists.txt {version}"
    released = found("CHANGELOG.md", r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$")
    if released != version:
        yield f"the newest release in CHANGELOG.md is {released}, CMakeLists.txt says {version}"
    if not (ROOT / "test/compatibility" / f"{version}.tar.gz").exists():
        yield f"test/compatibility has no fixtures of {version}: run make.py there"
    serving, number, names = "python/mlserver", r'^version = "(.+)"$', r'^__version__ = "(.+)"$'
    packages = [("python/pyproject.toml", number), ("python/ingot/__init__.py", names), (f"{serving}/pyproject.toml", number), (f"{serving}/ingot_mlserver/__init__.py", names)]
    for path, pattern in (*packages, (f"{serving}/pyproject.toml", r'"ingot==([^"]+)"')):
        if (own := found(path, pattern)) != version:
            yield f"{path} says {own}, CMakeLists.txt {version}"
    for number, path, pattern in (
        ("INGOT_ABI", "runtime_support/include/ingot.h", r"#define INGOT_ABI (\d+)"),
        ("plugInVersion", "compiler/target/PlugIn.h", r"plugInVersion = (\d+)"),
        ("manifest_version", "compiler/emit/BuildInfo.h", r"manifestVersion = (\d+)"),
    ):
        is_, documented = found(path, pattern), found("docs/compatibility.md", rf"`{number}`, now (\d+)")
        if is_ != documented:
            yield f"{path} has {number} {is_}, docs/compatibility.md {documented}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    wrong = list(differences(parser.parse_args().ingot))
    print("\n".join(wrong) or "one version")
    sys.exit(bool(wrong))
