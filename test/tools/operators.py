"""Which operators of the standard ingot has: what its .td files define, as far as the installed onnx knows them."""
import pathlib
import re

OPS = pathlib.Path(__file__).resolve().parents[2] / "compiler" / "onnx" / "ops"


def domains_of(text, known):
    """Which classes of a .td file are of operators of another domain than the standard's: the domain begins the name that they give an op, or a class that they build on is one."""
    found = dict(known)
    for name, base in re.findall(r"^class (\w+)<[^:]*?>\s*:\s*([^;{]*)", text, re.M):
        own, built = re.search(r'<"([\w.]+)\." #', base), re.match(r"\w+", base)
        if own or (built and built[0] in found):
            found[name] = own[1] if own else found[built[0]]
    return found


def definitions():
    """(domain, operator, text) of all operators that a model can name, old experimental ones included."""
    common = domains_of((OPS.parent / "Onnx.td").read_text(), {})
    for path in sorted([*OPS.glob("*.td"), *OPS.parent.glob("expanded/*.td")]):
        text = path.read_text()
        domains = domains_of(text, common)
        for definition in re.split(r"^def ", text, flags=re.M)[1:]:
            head = re.match(r'Onnx_\w+Op\s*:\s*(\w+)<"(\w+)"', definition)
            if head and head[1] != "Op" and not head[1].startswith(("Onnx_Core", "Onnx_Construct")):
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
