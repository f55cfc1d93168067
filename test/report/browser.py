"""The page of `ingot report` in a real browser: its scripts run to the end without an error, every section is filled, nothing comes from outside, and
names that are markup stay text; so with a device that has a memory of its own (--devices: a compiler that knows the loopback device). Then a graph of 1,000 nodes within its time.

    browser.py --ingot BIN --devices BIN [--browser PROGRAM] [--keep FOLDER: the pages and a screenshot of each]

Skipped where there is no Chromium (Debian: chromium) or no onnx."""
import argparse
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HOSTILE = "</script><script>document.documentElement.dataset.owned=1</script><img src=x onerror=alert(1)>&amp;\"'"


def save(path, nodes, inputs, outputs, initializers=()):
    import onnx
    from onnx import helper

    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def hostile_model(path, spread=False):
    """Convolutions under names that are markup, an open batch, and a sum that requires two sizes to be equal."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper

    values = numpy.linspace(-1, 1, 108).reshape(4, 3, 3, 3) if spread else numpy.ones((4, 3, 3, 3))
    weights = numpy_helper.from_array(values.astype(numpy.float32), "w" + HOSTILE)
    nodes = [helper.make_node("Conv", ["x" + HOSTILE, "w" + HOSTILE], ["c" + HOSTILE], name="conv" + HOSTILE, pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c" + HOSTILE], ["r"], name=HOSTILE),
             helper.make_node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Softmax", ["p"], ["s"], name="soft"),
             helper.make_node("Add", ["s", "z"], ["y"], name="sum")]
    inputs = [helper.make_tensor_value_info("x" + HOSTILE, TensorProto.FLOAT, ["n", 3, 8, 8]),
              helper.make_tensor_value_info("z", TensorProto.FLOAT, ["m", 4, 4, 4])]
    save(path, nodes, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weights])


def large_model(path, count):
    """Blocks with branches that meet again, and a sum with what is eight blocks above."""
    from onnx import TensorProto, helper

    nodes, ends = [], ["x"]
    while len(nodes) < count:
        i = len(nodes)
        nodes += [helper.make_node(op, [ends[-1]], [f"{op}{i}"], name=f"block{i}/{op}") for op in ("Relu", "Sigmoid", "Tanh")]
        nodes += [helper.make_node("ReduceMax", [f"Tanh{i}"], [f"m{i}"], name=f"block{i}/max", axes=[1], keepdims=1),
                  helper.make_node("Softmax", [f"Relu{i}"], [f"s{i}"], name=f"block{i}/softmax"),
                  helper.make_node("Sum", [f"s{i}", f"Sigmoid{i}", f"m{i}", ends[max(0, len(ends) - 8)]], [f"e{i}"], name=f"block{i}/sum")]
        ends.append(f"e{i}")
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 8]) for name in ("x", ends[-1])]
    save(path, nodes, ports[:1], ports[1:])


class Dom(html.parser.HTMLParser):
    """What the tests ask of a dumped page: how many of each element and class, the attributes of the root, and all text but scripts'."""

    def __init__(self, text):
        super().__init__()
        self.root, self.counts, self.text, self.skipped = {}, {}, "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.root = attributes if tag == "html" else self.root
        self.skipped = tag in ("script", "style")
        for key in (tag, *(f".{name}" for name in (attributes.get("class") or "").split())):
            self.counts[key] = self.counts.get(key, 0) + 1

    def handle_data(self, text):
        self.text += "" if self.skipped else text

    def handle_endtag(self, tag):
        self.skipped = False


class Browser:
    def __init__(self, program, folder):
        self.options = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000",
                        f"--user-data-dir={folder}/profile", "--enable-logging=stderr", "--v=0"]

    def dump(self, page):
        result = subprocess.run([*self.options, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
        return Dom(result.stdout), [line for line in result.stderr.splitlines() if "CONSOLE" in line]

    def screenshot(self, page, picture):
        subprocess.run([*self.options, "--window-size=1400,2400", f"--screenshot={picture}", page.as_uri()], capture_output=True, timeout=120)


def expect(condition, what):
    if not condition:
        sys.exit(f"report: {what}")


def check_hostile(dom, console, source, texts):
    expect(not console, f"the console says {console}")
    expect(dom.root.get("data-state") == "ready" and "data-error" not in dom.root, f"the script did not run to its end: {dom.root}")
    expect("data-owned" not in dom.root and dom.counts.get("img", 0) == 0, "a name of the model became markup")
    expect(dom.counts["script"] == 2 and "http://" not in source.replace("http://www.w3.org/2000/svg", "") and "https://" not in source,
           "the page refers to something outside, or has scripts of the model's")
    expect(HOSTILE in dom.text, "the name that is markup is not shown as text")
    expect(dom.counts.get(".box", 0) >= 5 and dom.counts.get(".edge", 0) >= 4, "the graph is not there")
    expect(dom.counts.get(".life", 0) >= 2 and dom.counts.get("tr", 0) >= 7, "memory or kernels are not there")
    for text in texts:
        expect(text in dom.text.replace("n = m", "m = n"), f"the page does not say '{text}'")


def check_quantized(browser, ingot, folder):
    """The page of `ingot quantize`: a layer whose name is markup stays text, and has pictures of what it reads and of its weights."""
    import numpy

    (folder / "data").mkdir(exist_ok=True)
    for k in range(2):
        numpy.savez(folder / "data" / f"{k}.npz", **{"x" + HOSTILE: numpy.random.default_rng(k).normal(size=(2, 3, 8, 8)).astype(numpy.float32), "z": numpy.ones((2, 4, 4, 4), numpy.float32)})
    page = (folder / "quantized.html").resolve()
    done = subprocess.run([ingot, "quantize", folder / "random.onnx", "--data", folder / "data", "-o", folder / "quantized.onnx", "--report", page], capture_output=True, text=True)
    expect(done.returncode == 0, f"quantize: {done.stderr}")
    dom, console = browser.dump(page)
    expect(not console and dom.root.get("data-state") == "ready" and "data-error" not in dom.root, f"the page of a quantization did not run to its end: {dom.root} {console}")
    expect("data-owned" not in dom.root and dom.counts.get("img", 0) == 0 and HOSTILE in dom.text, "a layer's name became markup")
    expect(dom.counts.get("svg", 0) == 2 and dom.counts.get(".ends", 0) == 2 and dom.counts.get(".bars", 0) == 160, f"pictures are not there: {dom.counts}")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--devices", required=True)
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome"))
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import onnx  # noqa: F401
    except ImportError:
        arguments.browser = None
    if not arguments.browser:
        print("skipped: needs chromium (apt-get install chromium) and the onnx package")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        browser = Browser(arguments.browser, temporary)
        hostile_model(folder / "hostile.onnx")
        large_model(folder / "large.onnx", 1000)
        first = "Everything runs on the first target"
        cases = (("hostile", "timed", ["--dim", "n=2", "--dim", "m=2", "--bench", "--seconds", "0.05"], [first, "All sizes are fixed", "µs", " %"]),
                 ("hostile", "open", [], [first, "Every run is checked for", "m = n", "Times are missing", "by size"]),
                 ("hostile", "devices", ["--dim", "n=2", "--dim", "m=2", "--target", "loopback:Conv+MaxPool,x86-64-v3"],
                  ["Copies between memories", "result of 'pool' (MaxPool)", "'soft' (Softmax)", "1.54 kB", "piece", "3 nodes are not on the first target", "Of loopback:Conv+MaxPool: "]),
                 ("large", "large", [], []))
        for model, name, flags, texts in cases:
            page = (folder / f"{name}.html").resolve()
            ingot = arguments.devices if name == "devices" else arguments.ingot
            report = subprocess.run([ingot, "report", folder / f"{model}.onnx", "-o", page, *flags], capture_output=True, text=True)
            expect(report.returncode == 0, f"{name}: {report.stderr}")
            start = time.time()
            dom, console = browser.dump(page)
            seconds = time.time() - start
            if model == "hostile":
                check_hostile(dom, console, page.read_text(), texts)
            else:
                expect(dom.root.get("data-state") == "ready" and not console, f"the large page did not run to its end: {console}")
                expect(dom.counts.get(".box", 0) > 100 and seconds < 60, f"{dom.counts.get('.box', 0)} boxes in {seconds:.0f} s")
                print(f"{dom.counts['.box']} boxes, {dom.counts['.edge']} edges in {seconds:.1f} s")
            if arguments.keep:
                browser.screenshot(page, folder / f"{name}.png")
        hostile_model(folder / "random.onnx", spread=True)
        page = check_quantized(browser, arguments.ingot, folder)
        if arguments.keep:
            browser.screenshot(page, folder / "quantized.png")
    print("all pages ran to their ends")


if __name__ == "__main__":
    main()
