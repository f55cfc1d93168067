"""Any name that a model can have compiles: names.py --ingot build/bin/ingot --include DIR [--seed N] [--models N]

Names of models, inputs, outputs and sizes are drawn from the keywords of C and C++, the macros that compilers know behind our headers and those of C's library, all words of our headers and of a header that was generated, other alphabets, digits,
control characters, and names that differ only in what an identifier cannot have. All headers are included by one program, which calls all models; it, and the C++ source, compile without a warning in each language by each compiler. Names of
sizes stay apart: the manifest has each of them.
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import ingot_run
import onnx
from onnx import helper

KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class compl concept const const_cast consteval constexpr
constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if import
inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected public register reinterpret_cast requires restrict return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local _Float16 _BitInt
__attribute__ __attribute __asm __asm__ __extension__ __int128 __float128 __restrict __inline__ __typeof__ __volatile__ __signed__ __const __label__ __real__ __imag__ __func__""".split()
LIBRARY = "assert ctype errno float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib string time wchar wctype".split()
ODD = ["a-b", "a_b", "a.b", "a b", "a__b", "A_B", "_a_b_", "x", "X", "x_elements", "X_ELEMENTS", "x_2", "workspace_bytes", "WORKSPACE_BYTES", "größe", "サイズ", "размер", "1", "2n", "0x10",
       "s0 + 1", "s0 - 1", "2*n", "min(a,b)", "$0", "@1", "#2", "'", "''", "\\", "\\5c", '"', "?", "??/", "*/", "/*", "//", "a\\", "a\nb", "\t", "\u202e", "a\u202eb", "\u2028", "", " ", "a,b", "a=b",
       "N", "None", "unk__1", "DynamicDimension.0", "DynamicDimension_0", "x_0", "x_1", "n" * 3000, "n" * 3000 + "m", "div", "max", "p0", "i0", "size0", "found0"]


class Names:
    """Draws names."""

    def __init__(self, seed, include, generated):
        self.random = random.Random(seed)
        self.pools = [KEYWORDS, ODD, macros("gcc", "c", include), macros("clang++-22", "c++", include)]
        self.pools += [sorted(set(re.findall(r"[A-Za-z_]\w*", text))) for text in [(include / "ingot.h").read_text(), (include / "ingot.hpp").read_text(), generated or "x"]]

    def one(self):
        name = self.random.choice(self.random.choice(self.pools))
        return self.random.choice([name] * 6 + [name.upper(), name + "_", "_" + name, name + self.random.choice("-. _/:\n*"), name.replace("_", "-")])

    def several(self, count):
        """Unlike each other, and not empty."""
        names = {}
        while len(names) < count:
            names[self.one()] = None
        return [name for name in names if name] + ["left"] * ("" in names)

    def identifier(self):
        """Of a model, or rather of its file: `ingot` is the library's own."""
        while not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]{0,99}", name := self.one()) or name.lower() == "ingot":
            pass
        return name


def macros(compiler, language, include):
    headers = [f"{name}.h" for name in LIBRARY] + ["ingot.hpp" if language == "c++" else "ingot.h"]
    text = "".join(f"#include <{name}>\n" for name in headers)
    done = subprocess.run([compiler, "-x", language, f"-I{include}", "-dM", "-E", "-"], input=text, capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"^#define (\w+)(?!\()\b", done.stdout, re.MULTILINE)))


def model(names, number):
    """Each input has sizes of its own, or one that another has; some are outputs under other names."""
    inputs = names.several(24)
    outputs = [name for name in names.several(6) if name not in inputs]
    sizes = names.several(30)
    value = lambda name, dims: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    dims = [[names.random.choice(sizes + [None, 3]) for _ in range(names.random.choice([0, 1, 1, 2]))] for _ in inputs]
    nodes = [helper.make_node("Neg", [inputs[i]], [output], name=names.one()) for i, output in enumerate(outputs)]
    nodes[0:1] = [helper.make_node("NonZero", [inputs[0]], [outputs[0]], name=names.one())]
    dims[0] = [names.random.choice(sizes), 2]
    results = [helper.make_tensor_value_info(outputs[0], onnx.TensorProto.INT64, [2, None])] + [value(name, dims[1 + i]) for i, name in enumerate(outputs[1:])]
    graph = helper.make_graph(nodes, names.one(), [value(*item) for item in zip(inputs, dims)], results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), {dim for axes in dims for dim in axes if isinstance(dim, str)}


def is_called(dim):
    """Whether it is the name of a size: of an axis without letters nothing is known, and neither is of these."""
    return any(c.isalnum() or ord(c) >= 0x80 for c in dim) and dim.lower() not in ("none", "-1", "unk", "unknown")


def calls(name, facts):
    """A call of the C function, and of the class, with nothing: it is not run."""
    sizes = ", ".join(["1"] * len(facts["symbols"]))
    tensors = len(facts["inputs"]) + len(facts["outputs"])
    found = len(facts.get("found", []))
    parts = ["0"] * tensors + ([sizes] if sizes else []) + ["0"] * found + ["0", "0"]
    return f"  status |= {name}_run({', '.join(parts)}) | {name}_model()->abi;\n"


def use_of_class(header):
    """Names the class. Where its name is a macro's, it has an underscore behind it."""
    name = re.search(r"^class (\w+) \{", header, re.MULTILINE)[1]
    if name != "INGOT_CLASS":
        return f"  status |= sizeof(ingot::models::{name}) > 1;\n"
    name = re.search(r"#define INGOT_CLASS (\w+)\n#endif", header)[1]
    return f"#ifdef {name}\n  status |= sizeof(ingot::models::{name}_) > 1;\n#else\n  status |= sizeof(ingot::models::{name}) > 1;\n#endif\n"


def main():
    parser = ingot_run.argparse.ArgumentParser()
    parser.add_argument("--ingot", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--models", type=int, default=6)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    print(f"seed {options.seed}")
    failures = []

    def run(what, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, errors="replace")
        if done.returncode:
            failures.append(what)
            print(f"{what}: exit {done.returncode}\n{(done.stderr or done.stdout)[:3000]}")
        return not done.returncode

    headers, c, cpp, sources, taken = "", "", "", [], set()
    generated = ""
    for number in range(options.models):
        names = Names(options.seed * 1000 + number, options.include, generated)
        proto, dims = model(names, number)
        name = names.identifier()
        while name.lower() in taken:
            name = names.identifier()
        taken.add(name.lower())
        path = folder / f"model{number}.onnx"
        onnx.save(proto, path)
        weights = names.random.choice(["embed", "extern"])
        if not run(f"ingot: model {number} as '{name}'", options.ingot, "compile", path, "--name", name, "--emit", "cpp", "--independent-dims", "--weights", weights, "-o", folder / f"out{number}"):
            continue
        header, facts = (folder / f"out{number}" / f"{name}.h").read_text(), json.loads((folder / f"out{number}" / f"{name}.json").read_text())
        generated = header
        said = {symbol["name"] for symbol in facts["symbols"]}
        if missing := {dim for dim in dims if is_called(dim)} - said:
            failures.append("sizes")
            print(f"model {number}: the manifest lacks the sizes {sorted(missing)}")
        if len(said) != len(facts["symbols"]):
            failures.append("sizes")
            print(f"model {number}: sizes of one name")
        headers += f'#include "out{number}/{name}.h"\n'
        c += calls(name, facts)
        cpp += use_of_class(header)
        sources.append(folder / f"out{number}" / f"{name}.cpp")
    warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{options.include}"]
    around = "".join(f"#include <{name}.h>\n" for name in LIBRARY)
    for label, before, standards in ("", "", ["c11", "c17", "c++17", "c++20"]), (" behind C's library", around, ["gnu17", "gnu++20"]):
        (folder / "main.c").write_text(f"{before}{headers}int all(int status);\nint all(int status) {{\n{c}  return status;\n}}\n")
        (folder / "main.cpp").write_text(f"{before}{headers}int all(int status);\nint all(int status) {{\n{c}{cpp}  return status;\n}}\n")
        for standard in standards:
            suffix = "cpp" if "++" in standard else "c"
            for compiler in ("g++", "clang++-22") if suffix == "cpp" else ("gcc", "clang-22"):
                run(f"{compiler} {standard}{label}", compiler, f"-std={standard}", *warnings, folder / f"main.{suffix}")
    for number, source in enumerate(sources):
        run(f"the source of model '{source.stem}'", ["g++", "clang++-22"][number % 2], "-std=c++17", *warnings, f"-iquote{source.parent}", source)
    if not options.keep:
        shutil.rmtree(folder)
    print(f"{len(failures)} failures: {failures}" if failures else f"{options.models} models, as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
