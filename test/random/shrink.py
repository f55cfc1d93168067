"""The smallest case that fails as a found one does: ingot-reduce with the trial itself as the command, in a process that may be ended by it."""
import datetime
import importlib.machinery
import importlib.util
import os
import pathlib
import pickle
import signal
import sys

import found
import onnx
import trial
from onnx import numpy_helper

TOOL = trial.HERE.parents[1] / "compiler" / "tools" / "ingot-reduce"
SECONDS = 30  # for one model


def load_tool():
    loader = importlib.machinery.SourceFileLoader("ingot_reduce", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ingot_reduce", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def apart(function, seconds=SECONDS):
    """What a function gives in a child, or "crash" where it ends the child; the child uses the servers of this process."""
    down, up = os.pipe()
    servers = trial.Server.servers
    child = os.fork()
    if child == 0:
        os.close(down)
        signal.alarm(seconds)
        for (_, thread, path), server in list(servers.items()):
            servers[os.getpid(), thread, path] = server
        try:
            result = function()
        except BaseException as error:
            result = f"error {error}"
        with os.fdopen(up, "wb") as file:
            pickle.dump(result, file)
        os._exit(0)
    os.close(up)
    with os.fdopen(down, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if data and status == 0 else "crash"


def verdict_of(ingot, model, feeds, level, flags=()):
    trial.Server.of(ingot)  # before the child, so that all children use one
    told = apart(lambda: trial.trial(ingot, model, [feeds], level, flags)[:2])
    return told if isinstance(told, tuple) else (told.split()[0], told)


def shrink(ingot, folder, level, verdict, seconds):
    """(model, inputs, what is wrong) at its smallest, or None where the case alone does not fail."""
    tool, model = load_tool(), onnx.load(folder / "model.onnx")
    feeds = {value.name: numpy_helper.to_array(onnx.load_tensor(str(folder / "test_data_set_0" / f"input_{k}.pb"))) for k, value in enumerate(trial.inputs_of(model))}
    alike = ("bug", "crash", "timeout") if verdict in ("bug", "crash", "timeout") else (verdict,)
    if verdict_of(ingot, model, feeds, level)[0] not in alike:
        return None
    reducer = tool.Reducer(model, feeds, lambda model, feeds, outputs: verdict_of(ingot, model, feeds, level)[0] in alike, seconds)
    best = reducer.reduce()
    return best.model(), best.feeds, verdict_of(ingot, best.model(), best.feeds, level)[1]


def keep(ingot, task, folder, verdict, seconds=120):
    """Shrinks a case and leaves it in test/random/found; says in a line where it is. ONNX Runtime, which shrinking asks for values, may end the process that does."""
    trial.Server.of(ingot)
    told = apart(lambda: kept(ingot, task, folder, verdict, seconds), 10 * seconds)
    return f"{folder}: not to be shrunk: the process that did ended" if told == "crash" else told


def kept(ingot, task, folder, verdict, seconds):
    suite, seed, index, level = task
    small = shrink(ingot, folder, level, verdict, seconds)
    if small is None:
        return f"{folder}: not to be shrunk: it does not fail by itself"
    model, feeds, text = small
    known = {without_names(found.read(path)[0]) for path in found.FOLDER.glob("*.txt")}
    if without_names(model) in known:
        return f"{folder}: shrinks to a case that is there already"
    operators = "-".join(dict.fromkeys(node.op_type for node in model.graph.node))[:60].lower()
    name = next(name for k in range(1, 1000) if not (found.FOLDER / f"{(name := f'{operators}-{k}')}.txt").exists())
    story = f"{datetime.date.today()}, {suite}/{seed}/{index}: {verdict}: {' '.join(text.split())[:160]}"
    path = found.write(name, model, feeds, level, (), story)
    if path is None:
        onnx.save(model, folder / "reduced.onnx")
        return f"{folder / 'reduced.onnx'}: has no text form"
    return f"{path}: {len(model.graph.node)} nodes"


def without_names(model):
    """What makes two cases the same."""
    return tuple((node.op_type, tuple(sorted(attribute.name for attribute in node.attribute))) for node in model.graph.node)
