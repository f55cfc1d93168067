"""The corpus that fuzzing begins with: corpus.py OUT [--bytes 4096]

OUT/models gets ONNX's node tests (Debian's libonnx-testdata and the onnx package), those whose file has at most so many bytes; OUT/sizes texts of sizes and programs
of test/fuzz/Sizes.cpp. In the repository is only what fuzzing has found, made small: test/fuzz/found.
"""
import argparse
import pathlib
import random
import shutil

TEXTS = ["8\nbatch", "batch*seq\nseq", "2*batch+1\n2", "div(319+seq,320)\nseq", "max(-2+seq,0)\nmin(512,seq)", "min(1,min(1,batch))\n1",
         "div(1+div(1+seq,2),2)\n-3+past", "12*batch*past+12*batch*seq\npast+seq", "min(div(seq,3),max(-1+past,0))\n7", "$3\n100-$3", "div(a", "9223372036854775807\na"]  # fmt: skip


def node_tests():
    folders = [pathlib.Path("/usr/share/libonnx-testdata/data/node")]
    try:
        import onnx

        folders.append(pathlib.Path(onnx.__file__).parent / "backend/test/data/node")
    except ImportError:
        pass
    for folder in folders:
        yield from ((path.parent.name, path) for path in sorted(folder.glob("*/model.onnx")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path), parser.add_argument("--bytes", type=int, default=4096)
    arguments = parser.parse_args()
    models, sizes = arguments.out / "models", arguments.out / "sizes"
    models.mkdir(parents=True, exist_ok=True), sizes.mkdir(exist_ok=True)
    count = 0
    for name, path in node_tests():
        if path.stat().st_size <= arguments.bytes:
            count += 1
            shutil.copyfile(path, models / f"{name}-{count}.onnx")
    for path in sorted((pathlib.Path(__file__).parent / "found").glob("*.onnx")):
        count += 1
        shutil.copyfile(path, models / f"found-{path.name}")
    for k, text in enumerate(TEXTS):
        (sizes / f"text-{k}").write_text(text)
    draw = random.Random(1)
    for k in range(400):
        (sizes / f"program-{k}").write_bytes(bytes(draw.choice((draw.randrange(14, 40), draw.randrange(64, 128), draw.randrange(128, 256))) for _ in range(draw.randrange(3, 24))))
    print(f"{count} models, {len(TEXTS) + 400} sizes")


if __name__ == "__main__":
    main()
