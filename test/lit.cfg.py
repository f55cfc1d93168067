# lit's configuration: FileCheck tests by room, test/<room>/*.mlir and *.test.
#   %ingot %ingot-opt   the compiler's programs
#   %make-model         %make-model IN.txt OUT.onnx: a model written in ONNX's text form becomes a file (test/tools/make_model.py)
#   %python             an interpreter with numpy and onnx (feature "python-onnx")
#   %width              W64; W32 where an index has 32 bits (--param triple=...)
#   %models             folder with small models made at build time
# FileCheck, not, count and split-file are on the path.
import os
import subprocess
import sys

import lit.formats

config.name = "ingot"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "tools", "random", "nodes", "models"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.ingot_binary_dir + "/test"
config.environment["PATH"] = os.pathsep.join([config.ingot_binary_dir + "/bin", config.llvm_tools_dir, os.environ["PATH"]])

tools = os.path.join(config.test_source_root, "tools")
# lit --param triple=x86_64-unknown-linux-gnux32 build/test/lower: the same tests for machines whose addresses have 32 bits.
triple = lit_config.params.get("triple")
if triple:
    config.name += "-" + triple
    config.test_exec_root += "/" + triple
config.substitutions += [
    ("%width", "W32" if triple else "W64"),
    ("%ingot-opt", config.ingot_binary_dir + "/bin/ingot-opt" + (f" --triple={triple}" if triple else "")),
    ("%ingot", config.ingot_binary_dir + "/bin/ingot"),
    ("%make-model", f"{config.python} {tools}/make_model.py"),
    ("%python", config.python),
    ("%models", config.ingot_binary_dir + "/test/models"),
    ("%llvm-bin", config.llvm_tools_dir),
    ("%build", config.ingot_binary_dir),
    ("%source", os.path.dirname(config.test_source_root)),
]
sys.path.insert(0, tools)
import gate

for feature in "avx512", "avx2", "qemu", "aarch64", "riscv64":
    if not gate.LACKS[f"no-{feature}"](config.ingot_binary_dir + "/bin/ingot"):
        config.available_features.add(feature)
if "INGOT_HOST" in os.environ:
    config.environment["INGOT_HOST"] = os.environ["INGOT_HOST"]
if subprocess.run([config.python, "-c", "import numpy, onnx"], capture_output=True).returncode == 0:
    config.available_features.add("python-onnx")
if subprocess.run([config.python, "-c", "import onnxruntime"], capture_output=True).returncode == 0:
    config.available_features.add("onnxruntime")
