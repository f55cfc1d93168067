"""Packages for firmware, as `ingot package` writes them: what their manifests have to have, and the programs of their examples on an emulated board.

    libraries.py --ingot build/bin/ingot [--only arduino,platformio,cmsis-pack,esp-idf,zephyr]

There are two models in each, sine.onnx of the examples and one in int8. arm-none-eabi-gcc builds the libraries for a Cortex-M4 as the build system of
the format would (by the folders, scripts and conditions in the package), qemu runs them on mps2-an386; components for RISC-V are built by
riscv64-unknown-elf-gcc and run by qemu-riscv32. Outputs are compared with this host's: bits of the model in int8, floats within a tolerance.
"""
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE.parent / "firmware")]
import bare
import ingot_run
import numpy as np
import onnx
import run as firmware
from onnx import numpy_helper

SOURCES = HERE.parents[1]
BOARD = SOURCES / "examples/firmware"
SCRIPT = HERE / "libraries/board.ld"
ARM = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16"]
COMMON = ["-Os", "-ffreestanding", "-fno-builtin", "-ffunction-sections", "-Wall", "-Wextra", "-Werror"]
ON_BOARD = bare.board("mps2-an386")
TOOLS = ["arm-none-eabi-gcc", "arm-none-eabi-g++", "qemu-system-arm", "riscv64-unknown-elf-gcc", "qemu-riscv32", "cmake"]
CORES = {"Cortex-M0+", "Cortex-M3", "Cortex-M4", "Cortex-M7", "Cortex-M33", "Cortex-M55", "Cortex-M85"}
CATEGORIES = {"Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage", "Data Processing", "Other"}


def call(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]}: exit {done.returncode}: {(done.stderr or done.stdout)[-800:]}"
    return done.stdout + done.stderr


def numbers(count):
    """What libraries/main.c fills inputs with."""
    return np.float32([(k * 37 % 101 - 50) / 16 for k in range(count)])


def make_models(folder):
    shutil.copy(BOARD / "sine.onnx", folder)
    text, constants, _ = firmware.MODELS["quantized"]
    onnx.save(firmware.model_of(text, constants), folder / "quantized.onnx")
    return [folder / "sine.onnx", folder / "quantized.onnx"]


def on_host(ingot, model, folder):
    """The output of a model here, for the same numbers."""
    shape = [dim.dim_value for dim in onnx.load(model).graph.input[0].type.tensor_type.shape.dim]
    folder.mkdir()
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(numbers(int(np.prod(shape))).reshape(shape), "x").SerializeToString())
    call(ingot, "run", model, "--data", folder, "--out", folder)
    return numpy_helper.to_array(onnx.load_tensor(str(folder / "output_0.pb"))).ravel()


def check_printed(printed, expected):
    for name, want in expected.items():
        found = re.search(rf"^{name}((?: [0-9a-f]{{8}})+)$", printed, re.M)
        assert found, f"no outputs of {name}: {printed[-300:]!r}"
        got = np.array([int(word, 16) for word in found.group(1).split()], np.uint32).view(np.float32)
        exact = name == "quantized"
        assert got.shape == want.shape and (np.array_equal(got, want) if exact else np.allclose(got, want, atol=1e-5)), f"{name}: {got[:4]}, expected {want[:4]}"


def build_on_board(package, sources, includes, folder, example, out, abi="softfp", language="c"):
    """Builds sources, the program and the board's start for a Cortex-M4, links the archives of the folder, and runs it: what it prints."""
    flags = [*ARM, f"-mfloat-abi={abi}", *COMMON]
    objects = []
    for k, source in enumerate([*sources, BOARD / "board.c", HERE / "libraries/main.c"]):
        objects.append(out / f"{k}.o")
        compiler = ["arm-none-eabi-g++", "-x", "c++", "-std=c++17", "-fno-exceptions"] if language == "c++" and source.name == "main.c" else ["arm-none-eabi-gcc", "-std=c11"]
        own = [f'-DEXAMPLE="{example}"'] if source.name == "main.c" else []
        call(*compiler, *flags, *own, *(word for path in (*includes, BOARD) for word in ("-I", path)), "-c", source, "-o", objects[-1])
    call("arm-none-eabi-gcc", *flags, "-nostdlib", "-T", SCRIPT, "-Wl,--gc-sections", *objects, f"-L{folder}", "-lsine", "-lquantized", "-lgcc", "-o", out / "program")
    return call(*ON_BOARD, out / "program")


def properties(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def try_arduino(package, out):
    facts = properties(package / "library.properties")
    required = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert required <= set(facts), f"library.properties lacks {required - set(facts)}"
    assert facts["category"] in CATEGORIES and re.fullmatch(r"[A-Za-z0-9][\w .-]{0,62}", facts["name"]) and re.fullmatch(r"\d+\.\d+\.\d+", facts["version"]), facts
    assert facts["precompiled"] == "true" and facts["ldflags"] == "-lsine -lquantized" and all((package / "src" / name).exists() for name in facts["includes"].split(",")), facts
    sources = sorted((package / "src").rglob("*.c"))
    printed = {}
    for abi in ("softfp", "hard"):  # as arduino-builder looks for them
        printed = build_on_board(package, sources, [package / "src"], package / f"src/cortex-m4/fpv4-sp-d16-{abi}", package / "examples/run/run.ino", out, abi, "c++")
        assert "0 is what the sketch says" in printed, printed
    return printed


class Environment(dict):
    """What link.py asks of PlatformIO's environment."""

    def __init__(self, cpu, flags):
        super().__init__(CCFLAGS=flags)
        self.cpu, self.given = cpu, {}

    def BoardConfig(self):
        return {"build.cpu": self.cpu}

    def Flatten(self, lists):
        return [word for words in lists for word in words]

    def Append(self, **values):
        self.given.update(values)


def link_script(package, cpu, abi):
    environment = Environment(cpu, [f"-mfloat-abi={abi}"])
    with contextlib.chdir(package):
        exec((package / "link.py").read_text(), {"Import": lambda name: None, "env": environment})
    return environment.given


def try_platformio(package, out):
    facts = json.loads((package / "library.json").read_text())
    assert {"name", "version"} <= set(facts) and re.fullmatch(r"[^:/@]{1,100}", facts["name"]) and facts["build"]["extraScript"] == "link.py", facts
    given = link_script(package, "cortex-m4", "softfp")
    assert given["LIBS"] == ["sine", "quantized"], given
    assert pathlib.Path(link_script(package, "cortex-m0plus", "soft")["LIBPATH"][0], "libsine.a").exists()
    try:
        link_script(package, "cortex-m23", "soft")
        raise AssertionError("a processor without models is taken")
    except SystemExit as refused:
        assert "no models for a cortex-m23" in str(refused)
    return build_on_board(package, sorted((package / facts["build"]["srcDir"]).glob("*.c")), [package / facts["build"]["includeDir"]], given["LIBPATH"][0], package / "examples/run/main.c", out)


def try_pack(package, out):
    """By the rules of PACK.xsd 1.7.7: required elements in their order, known cores and units, conditions that are there, files that are there."""
    [path] = package.glob("*.pdsc")
    root = xml.parse(path).getroot()
    elements = [child.tag for child in root]
    order = ["vendor", "name", "description", "url", "license", "releases", "conditions", "components"]
    assert root.tag == "package" and root.get("schemaVersion") == "1.7.7" and elements == [tag for tag in order if tag in elements], elements
    assert {"vendor", "name", "description", "url", "releases"} <= set(elements), elements
    assert path.name == f"{root.findtext('vendor')}.{root.findtext('name')}.pdsc" and root.find("releases/release").get("version") == "1.0.0"
    conditions = {condition.get("id"): condition for condition in root.iter("condition")}
    for accept in root.iter("accept"):
        assert accept.get("Dcore") in CORES and accept.get("Dfpu") in (None, "NO_FPU", "SP_FPU", "DP_FPU"), accept.attrib
    [component] = root.iter("component")
    assert component.get("Cclass") and component.get("Cgroup") and component.get("Cversion")
    files = list(component.iter("file"))
    for file in files:
        assert (package / file.get("name")).exists() and file.get("condition", "cortex-m3") in conditions, file.attrib
    libraries = [file.get("name") for file in files if file.get("category") == "library" and accepts(conditions[file.get("condition")], "Cortex-M4", "SP_FPU")]
    assert len(libraries) == 2, libraries
    sources = [package / file.get("name") for file in files if file.get("category") == "sourceC" and not file.get("attr")]
    example = next(package / file.get("name") for file in files if file.get("attr") == "template")
    return build_on_board(package, sources, [package / "include"], (package / libraries[0]).parent, example, out, "hard")


def accepts(condition, core, unit):
    return any(accept.get("Dcore") == core and accept.get("Dfpu") in (None, unit) for accept in condition.iter("accept"))


def parse_yaml(text):
    """YAML of keys, lists of words and nested keys, which is all that the packages have."""
    root = {}
    stack = [(-1, root)]
    for line in text.splitlines():
        indent, word = len(line) - len(line.lstrip()), line.strip()
        while stack[-1][0] >= indent:
            stack.pop()
        if word.startswith("- "):
            stack[-1][1].setdefault("", []).append(word[2:])
            continue
        key, _, value = word.partition(":")
        stack[-1][1][key] = value.strip().strip('"') or {}
        stack.append((indent, stack[-1][1][key]))
    return root


def with_cmake(package, kind, out, example, board, compiler, processor, settings):
    arguments = [f"-DPACKAGE={package}", f"-DKIND={kind}", f"-DEXAMPLE={example}", f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={processor}", f"-DBOARD_FOLDER={BOARD}",
                 "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", *board, *settings]  # fmt: skip
    call("cmake", "-S", HERE / "libraries", "-B", out / "build", *arguments)
    call("cmake", "--build", out / "build")
    return out / "build/program"


def try_esp_idf(package, out):
    facts = parse_yaml((package / "idf_component.yml").read_text())
    assert re.fullmatch(r"\d+\.\d+\.\d+", facts["version"]) and "esp32c3" in facts["targets"][""] and "idf" in facts["dependencies"], facts
    program = with_cmake(package, "esp-idf", out, package / "examples/run/main/main.c", [], "riscv64-unknown-elf-gcc", "-march=rv32imc -mabi=ilp32", ["-DIDF_TARGET=esp32c3"])
    try:
        with_cmake(package, "esp-idf", out / "other", package / "examples/run/main/main.c", [], "riscv64-unknown-elf-gcc", "-march=rv32imc -mabi=ilp32", ["-DIDF_TARGET=esp32s3"])
        raise RuntimeError("a chip without models is taken")
    except AssertionError as refused:
        assert re.search(r"no models for\s+esp32s3", str(refused)), refused
    return call("qemu-riscv32", program)


def try_zephyr(package, out):
    facts = parse_yaml((package / "zephyr/module.yml").read_text())
    assert facts["name"] and (package / facts["build"]["cmake"] / "CMakeLists.txt").exists() and (package / facts["build"]["kconfig"]).exists(), facts
    option = re.search(r"^config (\w+)$", (package / facts["build"]["kconfig"]).read_text(), re.M).group(1)
    assert (package / "samples/run/prj.conf").read_text() == f"CONFIG_{option}=y\n"
    board = [f"-DBOARD_SOURCES={BOARD / 'board.c'}", f"-DBOARD_LINK=-T;{SCRIPT}"]
    processor = " ".join([*ARM, "-mfloat-abi=hard"])
    program = with_cmake(package, "zephyr", out, package / "samples/run/main.c", board, "arm-none-eabi-gcc", processor, [f"-DCONFIG_{option}=y", "-DCONFIG_CPU_CORTEX_M4=y", "-DCONFIG_FPU=y", "-DCONFIG_FP_HARDABI=y"])
    return call(*ON_BOARD, program)


FORMATS = {"arduino": try_arduino, "platformio": try_platformio, "cmsis-pack": try_pack, "esp-idf": try_esp_idf, "zephyr": try_zephyr}


def try_format(arguments, name, models, expected, scratch):
    package, out = scratch / f"models-{name}", scratch / f"built-{name}"
    out.mkdir()
    try:
        call(arguments.ingot, "package", "--for", name, *models, "-o", package)
        readme = (package / "README.md").read_text()
        assert re.search(r"^\| sine \| \S+ \| \d+ \| \d+ \| \d+ \|$", readme, re.M), readme
        check_printed(FORMATS[name](package, out), expected)
    except (AssertionError, RuntimeError, subprocess.TimeoutExpired) as wrong:
        return str(wrong)
    return None


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--only"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        print(f"skipped: no {', '.join(missing)} here")
        sys.exit(77)
    count = ingot_run.Count("packaging-libraries")
    with tempfile.TemporaryDirectory(prefix="ingot-libraries-") as folder:
        scratch = pathlib.Path(folder)
        models = make_models(scratch)
        expected = {model.stem: on_host(arguments.ingot, model, scratch / f"host-{model.stem}") for model in models}
        for name in arguments.only.split(",") if arguments.only else FORMATS:
            count.add(name, try_format(arguments, name, models, expected, scratch))
    count.finish()


if __name__ == "__main__":
    main()
