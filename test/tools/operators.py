"""Which operators of the standard ingot has: what its .td files define, as far as the installed onnx knows them."""
import pathlib
import re

OPS = pathlib.Path(__file__).resolve().parents[2] / "compiler" / "onnx" / "ops"


def names():
    """Of all operators that a model can name, old experimental ones included."""
    found = []
    for path in sorted(OPS.glob("*.td")):
        for base, name in re.findall(r'^def Onnx_\w+Op\s*:\s*(\w+)<"(\w+)"', path.read_text(), re.M):
            if base != "Op" and not base.startswith(("Onnx_Core", "Onnx_Ms")):  # forms of our own, and operators of com.microsoft
                found.append(name)
    return found


def since():
    """operator -> the version of its definition that its code was written for."""
    found = {}
    for path in sorted(OPS.glob("*.td")):
        for definition in re.split(r"^def ", path.read_text(), flags=re.M)[1:]:
            name, version = re.match(r'Onnx_\w+Op\s*:\s*\w+<"(\w+)"', definition), re.search(r", Since<(\d+)>", definition)
            found.update({name[1]: int(version[1])} if name and version else {})
    return found


def schemas():
    """Newest schema of each; operators that have left the standard are not among them."""
    import onnx

    found = {}
    for name in names():
        try:
            found[name] = onnx.defs.get_schema(name)
        except onnx.defs.SchemaError:
            pass
    return found
