"""A model compiled with open sizes, run through its descriptor: what the Python tests of open sizes share.

Outputs and workspace lie between guard bytes, and the workspace begins as NaNs. A run is repeated with its work items in other pieces and in another
order, with outputs written in the memory of inputs where they may be, which must give the same bits. What a run asks for lies between guard bytes, too, and
has to be given back."""
import ctypes
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess

import host
import ingot_run
import numpy as np
import onnx
from onnx import helper

BODY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
THREADS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
PARALLEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, BODY, ctypes.c_void_p, ctypes.c_int64)
PLAN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int32)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
ALLOCATED = 2  # INGOT_TENSOR_ALLOCATED
CHECKS = 1  # INGOT_DEVICE_CHECKS


class DeviceUse(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("device", "info", "workspace", "weights", "status", "code")]


class Exec(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("threads", THREADS), ("parallel_for", PARALLEL)]
    _fields_ += [("weights", ctypes.c_void_p), ("profile", ctypes.c_void_p), ("level", ctypes.c_int32)]
    _fields_ += [("allocator", ctypes.c_void_p), ("allocate", ALLOCATE), ("release", RELEASE), ("devices", ctypes.POINTER(DeviceUse))]


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64))]
    _fields_ += [("elements", ctypes.c_int64), ("bytes", ctypes.c_int64), ("flags", ctypes.c_uint32), ("in_place_of", ctypes.c_int32), ("device", ctypes.c_int32)]


class Symbol(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("least", ctypes.c_int64), ("most", ctypes.c_int64)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("target", ctypes.c_char_p), ("workspace_bytes", ctypes.c_int64), ("weight_bytes", ctypes.c_int64)]
    _fields_ += [("weights", ctypes.c_void_p), ("weights_at", ctypes.c_int64), ("flags", ctypes.c_uint32)]
    _fields_ += [("kernel_count", ctypes.c_int32), ("image_count", ctypes.c_int32), ("kernels", ctypes.c_void_p), ("images", ctypes.c_void_p)]


class Model(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("name", ctypes.c_char_p), ("target", ctypes.c_char_p)]
    _fields_ += [(name, ctypes.c_int32) for name in ("input_count", "output_count", "node_count", "symbol_count")]
    _fields_ += [("inputs", ctypes.POINTER(Tensor)), ("outputs", ctypes.POINTER(Tensor))]
    _fields_ += [(name, ctypes.c_int64) for name in ("workspace_bytes", "workspace_align", "weight_bytes")]
    _fields_ += [("nodes", ctypes.POINTER(ctypes.c_char_p)), ("symbols", ctypes.POINTER(Symbol)), ("plan", PLAN), ("run", RUN)]
    _fields_ += [("weight_hash", ctypes.c_uint64), ("found_count", ctypes.c_int32), ("level_count", ctypes.c_int32), ("levels", ctypes.POINTER(ctypes.c_int32))]
    _fields_ += [("device_count", ctypes.c_int32), ("devices", ctypes.POINTER(DeviceInfo))]


class Refused(Exception):
    """ingot does not compile the model."""


class Status(Exception):
    """A run or its plan gives an error value."""


class Lacks(Exception):
    """This host does not run code for the target."""


class Guarded:
    """Bytes between guards."""

    GUARD = 4096

    def __init__(self, size, fill):
        self.all = np.full(size + 2 * self.GUARD + 64, 0xA5, np.uint8)
        self.start = self.GUARD + -(self.all.ctypes.data + self.GUARD) % 64
        self.bytes = self.all[self.start : self.start + size]
        self.bytes[:] = fill
        self.pointer = self.all.ctypes.data + self.start

    def check(self, what):
        for side in (self.all[: self.start], self.all[self.start + len(self.bytes) :]):
            if (side != 0xA5).any():
                raise Status(f"written outside of {what}")


class Host:
    """Memory for runs; `most` allocations, then none."""

    def __init__(self, most=1 << 30, bytes_at_once=1 << 30):
        self.blocks, self.most, self.asked, self.bytes_at_once = {}, most, 0, bytes_at_once
        self.functions = ALLOCATE(self.allocate), RELEASE(self.release)
        self.wrong = []

    def allocate(self, _, size, align, output):
        self.asked += 1
        if self.asked > self.most or size > self.bytes_at_once:
            return None
        block = Guarded(size, 0xFF)
        if size < 1 or block.pointer % align:
            self.wrong.append(f"{size} bytes at a multiple of {align}")
        self.blocks[block.pointer] = block
        return block.pointer

    def release(self, _, pointer):
        block = self.blocks.pop(pointer, None)
        if block is None:
            self.wrong.append("released what nobody has")
        else:
            self.look(block)

    def look(self, block):
        try:
            block.check("memory that the run asked for")
        except Status as status:
            self.wrong.append(str(status))

    def check(self, kept):
        """`kept`: the addresses that belong to the caller now."""
        for block in self.blocks.values():
            self.look(block)
        if set(self.blocks) != set(kept):
            self.wrong.append(f"{len(self.blocks)} pieces of memory are held, {len(kept)} expected")
        if self.wrong:
            raise Status("; ".join(self.wrong))

    def serve(self, execution):
        execution.allocate, execution.release = self.functions
        return execution


class Device(ctypes.Structure):
    """An ingot_device."""

    _fields_ = [("context", ctypes.c_void_p)]
    _fields_ += [("allocate", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64))]
    _fields_ += [("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p))]
    _fields_ += [("upload", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64))]
    _fields_ += [("download", ctypes.c_void_p), ("load", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p))]
    _fields_ += [("unload", ctypes.c_void_p), ("launch", ctypes.c_void_p), ("wait", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p))]
    _fields_ += [("message", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p))]


DEVICE_FAILED = 17  # INGOT_ERROR_DEVICE


class Devices:
    """Devices for a loaded model, with workspaces of so many bytes: loopback devices (test/targets/loopback), or GPUs of the emulator (test/targets/cuda)."""

    def __init__(self, ingot, model, workspace_bytes):
        self.folder = pathlib.Path(ingot).resolve().parents[1] / "test/targets"
        self.closes, self.uses = [], (DeviceUse * model.device_count)()
        for info, bytes, use in zip(model.devices[: model.device_count], workspace_bytes, self.uses):
            device = (self.gpu() if info.target.startswith(b"cuda") else self.loopback(info.target)).contents
            use.device, use.info = ctypes.addressof(device), ctypes.addressof(info)
            code = ctypes.c_void_p()
            if info.kernel_count and device.load(device.context, use.info, ctypes.byref(code)):
                raise Status(f"the kernels cannot be loaded: {device.message(device.context).decode()}")
            use.code = code.value
            use.workspace = device.allocate(device.context, bytes, 64) if bytes else None
            use.weights = device.allocate(device.context, info.weight_bytes, 64) if info.weight_bytes else None
            use.status = device.allocate(device.context, 4, 64) if info.flags & CHECKS else None
            for to, data, size in ((use.weights, info.weights, info.weight_bytes), (use.status, b"\0\0\0\0", 4)):
                if to and (device.upload(device.context, to, data, size) or device.wait(device.context)):
                    raise Status("weights or the status cannot be copied to a device")

    def loopback(self, target):
        library = ctypes.CDLL(str(self.folder / "libloopback-device.so"))
        library.loopbackOpen.restype = ctypes.c_void_p
        library.loopbackDevice.restype = ctypes.POINTER(Device)
        opened = ctypes.c_void_p(library.loopbackOpen(target))
        self.closes.append(lambda: library.loopbackClose(opened))
        return library.loopbackDevice(opened)

    def gpu(self):
        os.environ.setdefault("INGOT_LIBCUDA", str(self.folder / "cuda/libcuda.so.1"))
        library = ctypes.CDLL(str(self.folder / "libcuda-device.so"))
        library.ingot_cuda_device.restype = ctypes.POINTER(Device)
        opened, why = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
        if library.ingot_cuda_open(None, ctypes.byref(opened), why, len(why)):
            raise Status(f"no GPU: {why.value.decode()}")
        self.closes.append(lambda: library.ingot_cuda_close(opened))
        return library.ingot_cuda_device(opened)

    def close(self):
        for close in self.closes:
            close()


def in_pieces(rng, threads=4):
    """A parallel_for on this thread: pieces in any order, for what says that it has that many threads."""

    def parallel_for(_, body, args, count):
        bounds = sorted({0, count, *(rng.randint(0, count) for _ in range(5))})
        pieces = list(zip(bounds, bounds[1:]))
        rng.shuffle(pieces)
        for begin, end in pieces:
            if status := body(args, begin, end):
                return status
        return 0

    return Exec(None, THREADS(lambda _: threads), PARALLEL(parallel_for))


MOST_ELEMENTS = 1 << 29  # of an output


def one_variant(model):
    """Flags with which the first axis of the first input gets no variant of its own for 1, as small models do without being asked."""
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in [value for value in model.graph.input if value.name not in weights][:1]:
        kind = value.type.optional_type.elem_type if value.type.HasField("optional_type") else value.type
        if kind.tensor_type.shape.dim and not kind.tensor_type.shape.dim[0].HasField("dim_value"):
            return ["--dim", (kind.tensor_type.shape.dim[0].dim_param or value.name + "_0") + "=*"]
    return []


def compilation(command):
    """The exit code of a compilation, and what it says."""
    code, _, err = ingot_run.invoke(command, seconds=300)
    return -signal.SIGALRM if code is None else code, err


def through_source(command, compile):
    """Compiles to C++ source (--target source:g++, source:clang++-22:x86-64-v3, 'source:clang++-22 --target=...'), and that to the shared object that was asked for: code and words as `compile` gives them."""
    command = list(command)
    at, out = command.index("--target"), pathlib.Path(command[command.index("-o") + 1])
    _, compiler, target = [*command[at + 1].split(":", 2), "portable"][:3]
    command[at + 1], command[command.index("--emit") + 1] = target, "cpp"
    code, said = compile(command)
    machine = target.split(",")[-1]
    march = [] if machine.startswith("portable") else [f"-march={machine}"]
    return build_source(out, compiler, march) if code == 0 else (code, said)


def build_source(out, compiler="g++", flags=()):
    """The shared object of the C++ source in `out`: (exit code, what the compiler said). A failure is a bug, exit code 2."""
    compiler, *own = shlex.split(compiler)
    flags = [*own, *flags]
    root, sources = pathlib.Path(__file__).resolve().parents[2], [*out.glob("*.cpp"), *out.glob("*.weights.S")]
    other = re.match(r"(\w+-linux-gnu)-g\+\+|.* --target=(\S+)", " ".join((compiler, *flags)))  # a cross compiler, or clang as one
    runtime = root / "build/lib" / (other[1] or other[2] if other else "") / "libingot_rt.a"
    command = [compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *flags, "-shared", "-fPIC", "-I", out, "-I", root / "runtime_support/include", *sources, runtime, "-o", out / f"{sources[0].stem}.so"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return (0, "") if done.returncode == 0 else (2, f"{compiler} refuses the source: {done.stderr}")


class OpenModel:
    """`model` is compiled into `folder`, through C++ source for a target source:COMPILER or source:COMPILER:TARGET; greedy:TARGET is --partition greedy, by which a device keeps
    what its copies are not worth."""

    def __init__(self, ingot, model, folder, target=None, flags=(), compile=compilation):
        folder = pathlib.Path(folder)
        if lack := host.lacking(ingot, target):
            raise Lacks(f"runs code for {lack[0]}: this host lacks {lack[1]}")
        if (target or "").startswith("greedy:"):
            target, flags = target.removeprefix("greedy:"), (*flags, "--partition", "greedy")
        onnx.save(model, folder / "model.onnx")
        command = [ingot, "compile", folder / "model.onnx", "--emit", "shared", "--name", "m", "-o", folder, *flags]
        words = [str(word) for word in command + (["--target", target] if target else [])]
        code, self.warnings = through_source(words, compile) if (target or "").startswith("source:") else compile(words)
        if code:
            raise Refused(f"exit {code}: {self.warnings.strip()[:600]}")
        self.ingot = ingot
        library = ctypes.CDLL(str(next(folder.glob("*.so"))))
        library.m_model.restype = ctypes.POINTER(Model)
        self.model, self.library = library.m_model().contents, library
        self.symbols = [self.model.symbols[i].name.decode() for i in range(self.model.symbol_count)]
        self.inputs = [self.model.inputs[i] for i in range(self.model.input_count)]
        self.outputs = [self.model.outputs[i] for i in range(self.model.output_count)]

    def check(self, status):
        if status:
            number = (status >> 8) - 1
            node = self.model.nodes[number].decode() if 0 <= number < self.model.node_count else number
            if status & 0xFF == DEVICE_FAILED and any(device.target.startswith(b"cuda") for device in self.model.devices[: self.model.device_count]):
                raise Status(f"the GPU failed in {node}")  # which no input may bring about
            raise Status(f"status {status & 0xFF}, {node}")

    def run(self, feeds, sizes, level=0):
        """Outputs for inputs by name (None: an optional one is left out) and symbols by name; `level`: the highest of the model's that runs, 0: the host's."""
        arrays, shapes, values, workspace = self.prepared(feeds, sizes)
        first = self.once(arrays, shapes, values, workspace, Exec(level=level))
        execution = in_pieces(random.Random(1))
        execution.level = level
        again = self.once(arrays, shapes, values, workspace, execution, in_place=True)
        for a, b in zip(first, again):
            if a.tobytes() != b.tobytes():
                raise Status("other bits when work is split and outputs are in the memory of inputs")
        return first

    def prepared(self, feeds, sizes):
        """What a run takes: inputs, shapes of outputs, values of symbols, bytes of the workspace and of each device's."""
        values = (ctypes.c_int64 * max(1, len(self.symbols) + self.model.found_count))(*[sizes[name] for name in self.symbols])
        dims = (ctypes.c_int64 * (1 + sum(o.rank for o in self.outputs)))()
        devices = self.model.devices[: self.model.device_count]
        workspaces = (ctypes.c_int64 * (1 + len(devices)))(self.model.workspace_bytes, *[device.workspace_bytes for device in devices])
        if self.model.plan:
            self.check(self.model.plan(values, dims, workspaces))
            shapes, at = [], 0
            for tensor in self.outputs:
                shapes.append(tuple(dims[at : at + tensor.rank]))
                at += tensor.rank
        else:
            shapes = [tuple(tensor.dims[: tensor.rank]) for tensor in self.outputs]
        if any(np.prod([float(size) for size in shape]) > MOST_ELEMENTS for shape in shapes):
            raise Status("status of the caller, no memory for outputs as large as their axes can be")
        arrays = [None if feeds[name] is None else np.ascontiguousarray(feeds[name]) for name in (tensor.name.decode() for tensor in self.inputs)]
        return arrays, shapes, values, list(workspaces)

    def once(self, arrays, shapes, values, workspaces, execution, in_place=False, memory=None):
        memory, (workspace_bytes, *device_bytes) = memory or Host(), workspaces
        ins = [None if a is None else Guarded(a.nbytes, np.frombuffer(a.tobytes(), np.uint8)) for a in arrays]
        types = [np.dtype(helper.tensor_dtype_to_np_dtype(tensor.type)) for tensor in self.outputs]
        given = [ctypes.c_void_p(1) if tensor.flags & ALLOCATED else None for tensor in self.outputs]
        outs = [pointer is None and Guarded(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, 0xFF) for pointer, shape, dtype in zip(given, shapes, types)]
        if in_place:
            outs = [ins[tensor.in_place_of - 1] if tensor.in_place_of else out for tensor, out in zip(self.outputs, outs)]
        workspace = Guarded(workspace_bytes, 0xFF)
        pointers = lambda all: (ctypes.c_void_p * max(1, len(all)))(*[x and x.pointer for x in all])
        places = pointers(outs)
        for i, pointer in enumerate(given):
            places[i] = places[i] if pointer is None else ctypes.addressof(pointer)
        devices = Devices(self.ingot, self.model, device_bytes) if device_bytes else None
        execution.devices = devices.uses if devices else None
        execution.level = execution.level or host.level(self.ingot)
        status = self.model.run(pointers(ins), places, values, workspace.pointer, ctypes.byref(memory.serve(execution)))
        if devices:
            devices.close()
        memory.check([pointer.value for pointer in given if pointer and pointer.value])
        if status and any(pointer and pointer.value for pointer in given):
            raise Status("a run that failed gave outputs")
        self.check(status)
        for i, pointer in enumerate(given):
            outs[i] = outs[i] if pointer is None else memory.blocks[pointer.value]
        for what, buffer in [*((f"output {i}", o) for i, o in enumerate(outs)), ("workspace", workspace)]:
            buffer.check(what)
        return [self.found(tensor, o.bytes[: o.bytes.size // dtype.itemsize * dtype.itemsize].view(dtype), shape, values)
                for tensor, o, shape, dtype in zip(self.outputs, outs, shapes, types)]

    def found(self, tensor, elements, shape, values):
        """An output as far as the run found its sizes."""
        is_found = [-(1 << 63) < tensor.dims[axis] < -len(self.symbols) for axis in range(tensor.rank)]
        shape = [values[-1 - tensor.dims[axis]] if found else size for axis, (found, size) in enumerate(zip(is_found, shape))]
        return elements[: int(np.prod(shape, dtype=np.int64))].reshape(shape).copy()
