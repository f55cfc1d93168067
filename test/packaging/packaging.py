"""Builds a user's project (project/) against ingot's build folder and against an installation of it, moved after it was made, and checks that
  - the programs run,
  - building again does nothing,
  - editing a model, or a file that holds its weights, compiles that model again and links its program; the rest stays as it was;
that the headers for targets are whole; that a target of its own can be built against the installation and used; and that what cpack's archives unpack to works as well,
with the examples in them.

    packaging.py --build BUILD --work FOLDER --llvm-include FOLDER [--c-compiler CC] [--ingot PROGRAM in place of the packaged one]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def write_external(path, value):
    """A model y = x + w with w in external.bin."""
    import numpy
    import onnx
    from onnx import helper

    (path / "external.bin").write_bytes(numpy.full(4, value, numpy.float32).tobytes())
    weight = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="external.bin")
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "external", ports[:1], ports[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (path / "external.onnx").write_bytes(model.SerializeToString())


class Project:
    def __init__(self, work, name, generator, package, arguments):
        self.source, self.binary = work / name, work / f"{name}-build"
        shutil.copytree(HERE / "project", self.source)
        shutil.copy(EXAMPLES / "c/celsius.onnx", self.source)
        shutil.copy(EXAMPLES / "two_models/edges.onnx", self.source)
        write_external(self.source, 1)
        options = [f"-DCMAKE_PREFIX_PATH={package}", "-DCMAKE_BUILD_TYPE=Release"]
        options += [f"-DCMAKE_C_COMPILER={arguments.c_compiler}"] if arguments.c_compiler else []
        options += [f"-DINGOT_EXECUTABLE={arguments.ingot}"] if arguments.ingot else []
        call("cmake", "-S", self.source, "-B", self.binary, "-G", generator, *options)

    def build(self):
        """Builds; returns the names of the libraries and programs that were written."""
        before = self.times()
        time.sleep(1.1)  # make compares whole seconds on some file systems
        call("cmake", "--build", self.binary)
        return {name for name, written in self.times().items() if before.get(name) != written}

    def times(self):
        files = [*self.binary.glob("models/*/*.a"), self.binary / "one", self.binary / "levels"]
        return {path.name: path.stat().st_mtime_ns for path in files if path.exists()}

    def check(self):
        edges = {"edges_x86_64_v2.a", "edges_x86_64_v3.a"}
        everything = {"celsius.a", "external.a", *edges, "one", "levels"}
        self.expect("the first build", everything)
        self.expect("a build with nothing changed", set())
        model = self.source / "edges.onnx"
        model.write_bytes(model.read_bytes())
        self.expect("a build after edges.onnx changed", {*edges, "levels"})
        (self.source / "external.bin").write_bytes(bytes(16))
        self.expect("a build after external.bin changed", {"external.a", "levels"})
        self.expect("a build with nothing changed", set())
        self.expect_programs(weight=0)

    def check_programs(self):
        self.build()
        self.expect_programs(weight=1)

    def expect_programs(self, weight):
        self.expect_output("one", "0 98.6\n")
        self.expect_output("levels", f"edges_x86_64_v2 x86-64-v3 {weight}\n")

    def expect(self, what, expected):
        written = self.build()
        if written != expected:
            sys.exit(f"{self.source.name}: {what} wrote {sorted(written)}, expected {sorted(expected)}")

    def expect_output(self, program, expected):
        output = call(self.binary / program)
        if output != expected:
            sys.exit(f"{self.source.name}: {program} printed {output!r}, expected {expected!r}")


def check_plug_in(package, work, arguments):
    """A target of its own, built outside of our tree against the package, brings code for a model."""
    import numpy
    from onnx import numpy_helper

    shutil.copytree(EXAMPLES / "c_target", work / "c_target")
    call("cmake", "-S", work / "c_target", "-B", work / "c_target-build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package}")
    call("cmake", "--build", work / "c_target-build")
    data, model = work / "plug-in-data", EXAMPLES / "two_models/classify.onnx"
    data.mkdir()
    features = numpy.linspace(-1, 1, 16, dtype=numpy.float32).reshape(1, 16)
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(features).SerializeToString())
    ingot = arguments.ingot or package / "bin/ingot"
    target = ["--load-target", work / "c_target-build/c_target.so", "--target", "c,native"]
    call(ingot, "run", model, "--data", data, "--out", data)
    call(ingot, "verify", model, "--data", data, *target)
    report = call(ingot, "inspect", model, *target)
    if "       1  c\n" not in report:
        sys.exit(f"the target of the plug-in took nothing:\n{report}")


def check_headers(package, arguments):
    """The headers for targets in shared objects include none that is not installed."""
    folder = package / "include/ingot"
    flags = ["-std=c++20", "-fsyntax-only", f"-I{folder}", "-isystem", arguments.llvm_include]
    for header in sorted(folder.rglob("*.h")):
        call("clang++-22", *flags, "-x", "c++", header)


def check_examples(package, work):
    """The examples that the package brings along build against it, each in a folder of its own, and their programs pass their own tests."""
    (folder,) = package.glob("share/doc/ingot/examples")
    for example in sorted(folder.iterdir()):
        binary = work / f"example-{example.name}"
        call("cmake", "-S", example, "-B", binary, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package}", "-DCMAKE_BUILD_TYPE=Release")
        call("cmake", "--build", binary)
        call("ctest", "--test-dir", binary, "--output-on-failure")


def check_archives(build, work):
    """cpack's archives: the Debian package names the libraries that the compiler loads, and both hold the whole package."""
    call("cpack", "--config", build / "CPackConfig.cmake", "-B", work / "archives")
    (debian,), (archive,) = (list((work / "archives").glob(pattern)) for pattern in ("*.deb", "*.tar.gz"))
    depends = call("dpkg-deb", "-f", debian, "Depends")
    lists = {"the .deb": call("dpkg-deb", "-c", debian), "the .tar.gz": call("tar", "tf", archive)}
    missing = [f"the .deb does not depend on {package}" for package in ("libmlir-22", "libllvm22") if package not in depends]
    files = ("bin/ingot", "include/ingot.h", "include/ingot/compiler/target/PlugIn.h", "lib/libingot_rt.a", "lib/cmake/ingot/IngotModel.cmake")
    missing += [f"{name} has no {file}" for name, text in lists.items() for file in files if file not in text]
    if missing:
        sys.exit("\n".join(missing))
    call("tar", "xf", archive, "-C", work / "archives")
    call("dpkg-deb", "-x", debian, work / "archives/debian")
    (unpacked,) = (path for path in (work / "archives").iterdir() if (path / "bin/ingot").exists())
    (installed,) = (path.parents[1] for path in (work / "archives/debian").rglob("bin/ingot"))
    return {"from-archive": unpacked, "from-debian": installed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--work", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--llvm-include", required=True, help="the folder of LLVM's headers")
    parser.add_argument("--c-compiler")
    parser.add_argument("--ingot")
    arguments = parser.parse_args()
    try:
        import onnx  # noqa: F401
    except ImportError:
        print("skipped: no onnx package")
        sys.exit(77)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    Project(arguments.work, "from-build", "Ninja", arguments.build, arguments).check()
    call("cmake", "--install", arguments.build, "--prefix", arguments.work / "prefix")
    (arguments.work / "prefix").rename(arguments.work / "moved")
    Project(arguments.work, "from-installation", "Unix Makefiles", arguments.work / "moved", arguments).check()
    check_headers(arguments.work / "moved", arguments)
    check_plug_in(arguments.work / "moved", arguments.work, arguments)
    archives = check_archives(arguments.build, arguments.work)
    for name, package in archives.items():
        Project(arguments.work, name, "Ninja", package, arguments).check_programs()
    check_examples(archives["from-archive"], arguments.work)
    print("the build folder, an installation, and what both archives unpack to work")


if __name__ == "__main__":
    main()
