"""Which operators of the standard ingot has: what its .td files define, as far as the installed onnx knows them."""
import pathlib
import re

OPS = pathlib.Path(__file__).resolve().parents[2] / "compiler" / "onnx" / "ops"


# By the class of a definition (compiler/onnx/Onnx.td); all others are the standard's.
DOMAINS = {
    "Onnx_MicrosoftOp": "com.microsoft", "Onnx_MicrosoftForm": "com.microsoft", "Onnx_MlOp": "ai.onnx.ml", "Onnx_MlForm": "ai.onnx.ml", "Onnx_PreviewOp": "ai.onnx.preview",
    "Onnx_TrainingOp": "ai.onnx.preview.training",
}  # fmt: skip


def definitions():
    """(domain, operator, text) of all operators that a model can name, old experimental ones included."""
    for path in sorted(OPS.glob("*.td")):
        text = path.read_text()
        domains = DOMAINS | {name: DOMAINS[base] for name, base in re.findall(r"^class (\w+)<[^:]*?>\s*:\s*(\w+)<", text, re.M) if base in DOMAINS}
        for definition in re.split(r"^def ", text, flags=re.M)[1:]:
            head = re.match(r'Onnx_\w+Op\s*:\s*(\w+)<"(\w+)"', definition)
            if head and head[1] not in ("Onnx_CoreOp", "Onnx_CoreFinder", "Op"):
                yield domains.get(head[1], ""), head[2], definition


def names():
    """Of the standard's operators."""
    return [name for domain, name, _ in definitions() if not domain]


def elsewhere():
    """Of other domains, each with its domain."""
    return [f"{domain}.{name}" for domain, name, _ in definitions() if domain]


def since():
    """operator -> the version of its definition that its code was written for."""
    found = {}
    for domain, name, definition in definitions():
        if not domain and (version := re.search(r", Since<(\d+)>", definition)):
            found[name] = int(version[1])
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
