"""The Python that test/exports runs in: a venv with PyTorch and what else requirements.txt pins, made on the first use, and beside it the older
transformers of requirements-script.txt."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OLDER = "script"  # the folder of the older transformers


def install(folder, requirements, pip, *flags):
    """Unless the same requirements are there: the copy of the file is the mark that everything is."""
    mark = folder / "requirements.txt"
    if mark.exists() and mark.read_text() == requirements.read_text():
        return
    print(f"installing {requirements.name} into {folder}", flush=True)
    subprocess.run([pip, "-m", "pip", "install", "-q", "--disable-pip-version-check", *flags, "-r", requirements], check=True)
    shutil.copy(requirements, mark)


def enter(cache):
    """Goes on in the venv: replaces this process by one of the venv's Python, unless it is that already."""
    venv = cache / "venv"
    python = venv / "bin/python"
    if pathlib.Path(sys.prefix) == venv:
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    install(venv, HERE / "requirements.txt", python)
    install(cache / OLDER, HERE / "requirements-script.txt", python, "--no-deps", "--target", cache / OLDER)
    os.execv(python, [str(python), *sys.argv])
