"""The arena of every model below some folders beside its lower bound, the largest live set: survey.py --ingot build/bin/ingot DIR...

A model is DIR/NAME/model.onnx; symbolic dimensions are those of NAME/test_data_set_0. Prints the table of docs/memory.md; fails where a plan is more than 3 %
above its bound.
"""
import json
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import onnx


def shapes(model):
    graph = onnx.load(model, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    for k, name in enumerate(value.name for value in graph.input if value.name not in weights):
        path = model.parent / f"test_data_set_0/input_{k}.pb"
        if path.exists() and (dims := onnx.load_tensor(path).dims):
            yield f"--shape={name}={'x'.join(map(str, dims))}"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    print("| model | buffers | arena | largest live set | above it |\n|---|--:|--:|--:|--:|")
    count = ingot_run.Count("memory")
    for model in sorted((path for folder in arguments.folders for path in folder.glob("*/model.onnx")), key=lambda path: path.parent.name):
        done = subprocess.run([arguments.ingot, "inspect", model, "--memory", "--json", *shapes(model)], capture_output=True, text=True)
        if done.returncode:
            continue  # not taken today: other tests say why
        facts = json.loads(done.stdout)
        peak, bound, buffers = facts["arena_bytes"], facts["arena_lower_bound"], len(facts["memory_plan"].splitlines()) - 2
        above = peak / bound - 1 if bound else 0
        print(f"| {model.parent.name} | {buffers} | {peak:,} | {bound:,} | {above:.2%} |", flush=True)
        count.add(model.parent.name, f"{above:.2%} above its bound" if above > 0.03 else None)
    count.finish()


if __name__ == "__main__":
    main()
