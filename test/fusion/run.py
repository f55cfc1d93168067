"""run.py INGOT: what fusions make gives ONNX Runtime's numbers (its own optimisations off), in as few kernels as said here.

The lit tests beside show what each fusion writes; here the weights are random, and wrong arithmetic on them would show."""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
try:
    import numpy as np
    import onnx
    import onnx.parser
    import peer
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

random = np.random.default_rng(1)


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return (random.random(shape) + 0.5).astype(np.float32)


def i(*values):
    return np.array(values, np.int64)


def number(v):
    return np.float32(v)


def normalisation():
    return {"s": positive(6), "b": f(6), "m": f(6), "v": positive(6)}


def pruned(w, channels, axis=0):
    """Weights whose channels of an axis are zeros."""
    w[(slice(None),) * axis + (list(channels),)] = 0
    return w


def doubled(w, channels):
    """Weights of which some outputs are the ones of output 0."""
    w[list(channels)] = w[0]
    return w


# Kernels, inputs, nodes, weights.
CASES = {
    "prunedbias": (2, {"x": (2, 5, 9, 7)}, "c=Conv<pads=[1,1,1,1]>(x,w,b) r=Sigmoid(c) y=Conv<strides=[2,1]>(r,v,d)", dict(w=pruned(f(21, 5, 3, 3), range(3, 14)), b=f(21), v=f(7, 21, 3, 2), d=f(7))),
    "prunedpadded": (2, {"x": (2, 5, 9, 7)}, "c=Conv(x,w) r=Relu(c) y=Conv<pads=[1,1,1,1]>(r,v)", dict(w=pruned(f(21, 5, 1, 1), range(1, 20)), v=f(7, 21, 3, 3))),
    "prunedkept": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w,b) y=Conv<pads=[1,1,1,1]>(c,v)", dict(w=pruned(f(21, 5, 1, 1), range(1, 20)), b=f(21), v=f(7, 21, 3, 3))),
    "pruneddepthwise": (3, {"x": (2, 5, 9, 7)}, "a=Conv(x,w,b) r=Relu(a) c=Conv<group=24,pads=[1,1,1,1]>(r,u,e) s=HardSwish(c) y=Conv(s,v,d)", dict(w=pruned(f(24, 5, 1, 1), range(2, 20)), b=pruned(f(24), range(0, 12)), u=pruned(f(24, 1, 3, 3), [0, 23]), e=f(24), v=f(7, 24, 1, 1), d=f(7))),
    "prunedall": (2, {"x": (1, 5, 9)}, "c=Conv(x,w,b) y=Conv(c,v)", dict(w=pruned(f(24, 5, 1), range(24)), b=f(24), v=f(3, 24, 3))),
    "unread": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w,b) t=Tanh(c) y=Conv<pads=[1,1,1,1]>(t,v,d)", dict(w=f(40, 5, 3, 3), b=f(40), v=pruned(f(6, 40, 3, 3), range(7, 31), 1), d=f(6))),
    "doubled": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w) t=Tanh(c) y=Conv<pads=[1,1,1,1]>(t,v)", dict(w=doubled(f(40, 5, 3, 3), range(7, 31)), v=f(6, 40, 3, 3))),
    "doubledunread": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w) y=Conv<pads=[1,1,1,1]>(c,v)", dict(w=doubled(f(40, 5, 3, 3), range(7, 31)), v=pruned(f(6, 40, 3, 3), range(9), 1))),
    "doubledscaled": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w) m=Mul(c,q) t=Tanh(m) y=Conv(t,v)", dict(w=doubled(f(40, 5, 3, 3), range(7, 31)), q=np.full((40, 1, 1), 3, np.float32), v=f(6, 40, 3, 3))),
    "doubledblocked": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w) t=Tanh(c) m=Mul(t,q) y=Conv(m,v)", dict(w=doubled(f(40, 5, 3, 3), range(7, 31)), q=np.full((40, 1, 1), 3, np.float32), v=f(6, 40, 3, 3))),
    "croppedsplat": (1, {"x": (1, 3, 9, 7)}, "c=Conv(x,w,b) r=Tanh(c) m=Mul(r,q) y=Slice(m,o,t,ax)", dict(w=f(9, 3, 3, 3), b=f(9), q=np.full((9, 1, 1), 3, np.float32), o=i(2), t=i(-3), ax=i(1))),
    "doubledbias": (2, {"x": (1, 5, 9, 7)}, "c=Conv(x,w,b) y=Conv<pads=[1,1,1,1]>(c,v)", dict(w=doubled(f(40, 5, 3, 3), range(7, 31)), b=f(40), v=f(6, 40, 3, 3))),
    "convbn": (1, {"x": (2, 4, 9, 7)}, "c=Conv<pads=[1,1,1,1],group=2>(x,w) n=BatchNormalization(c,s,b,m,v) y=Relu(n)", dict(w=f(6, 2, 3, 3), **normalisation())),
    "convtbn": (1, {"x": (2, 4, 5, 7)}, "c=ConvTranspose<strides=[2,2],group=2>(x,w,cb) n=BatchNormalization(c,s,b,m,v) y=Relu(n)", dict(w=f(4, 3, 3, 3), cb=f(6), **normalisation())),
    "convtbefore": (1, {"x": (2, 4, 5, 7)}, "n=Mul(x,q) y=ConvTranspose<strides=[2,2],group=2>(n,w,cb)", dict(w=f(4, 3, 3, 3), cb=f(6), q=f(4, 1, 1))),
    "bnconv": (1, {"x": (2, 6, 9, 7)}, "n=BatchNormalization(x,s,b,m,v) y=Conv<group=3>(n,w,cb)", dict(w=f(9, 2, 3, 3), cb=f(9), **normalisation())),
    "bnconvpad": (2, {"x": (2, 6, 9, 7)}, "n=BatchNormalization(x,s,b,m,v) k=Mul(n,q) y=Conv<group=3,pads=[1,1,0,1]>(k,w,cb)", dict(w=f(9, 2, 3, 3), cb=f(9), q=number(3), **normalisation())),
    "conv1subdiv": (1, {"x": (1, 3, 20)}, "c=Conv<strides=[2]>(x,w,cb) d=Sub(k,c) y=Div(d,q)", dict(w=f(5, 3, 3), cb=f(5), k=f(1, 5, 1), q=positive(5, 1))),
    "gemmbn": (1, {"x": (5, 7)}, "g=Gemm<transB=1,alpha=0.5>(x,w,c) n=BatchNormalization(g,s,b,m,v) y=Relu(n)", dict(w=f(6, 7), c=f(6), **normalisation())),
    "mmpre": (1, {"x": (2, 5, 7)}, "g=Mul(x,q) h=MatMul(g,w) y=Sub(k,h)", dict(w=f(7, 6), q=f(7), k=f(6))),
    "mmb": (1, {"x": (2, 5, 7)}, "g=Mul(x,q) h=MatMul(g,w) y=Mul(h,k)", dict(w=f(2, 7, 6), q=f(1, 7), k=f(6))),
    "padconv": (1, {"x": (1, 3, 9, 7)}, "p=Pad(x,pp) y=Conv<pads=[0,1,2,0],strides=[2,2]>(p,w)", dict(w=f(5, 3, 3, 3), pp=i(0, 0, 1, 2, 0, 0, 0, 3))),
    "padconvbig": (1, {"x": (1, 17, 9, 7)}, "p=Pad(x,pp) y=Conv<strides=[2,1],dilations=[1,2]>(p,w)", dict(w=f(20, 17, 3, 3), pp=i(0, 0, 5, 2, 0, 0, 0, 6))),
    "paddw": (1, {"x": (1, 17, 9, 7)}, "p=Pad(x,pp) y=Conv<strides=[2,2],group=17>(p,w)", dict(w=f(17, 1, 3, 3), pp=i(0, 0, 0, 0, 0, 0, 1, 1))),
    "padmax": (2, {"x": (1, 17, 9, 7)}, "r=Relu(x) p=Pad(r,pp) y=MaxPool<kernel_shape=[3,3],strides=[2,2]>(p)", dict(pp=i(0, 0, 1, 0, 0, 0, 1, 2))),
    "padavg": (1, {"x": (1, 17, 9, 7)}, "p=Pad(x,pp) y=AveragePool<kernel_shape=[3,3],strides=[2,2]>(p)", dict(pp=i(0, 0, 1, 0, 0, 0, 1, 2))),
    "taps": (1, {"x": (1, 6, 7, 9)}, "y=Conv<group=2,dilations=[8,9],pads=[8,9,8,9]>(x,w,b)", dict(w=f(8, 3, 3, 3), b=f(8))),
    "tapsodd": (1, {"x": (2, 3, 7, 9)}, "y=Conv<dilations=[4,3],pads=[9,7,8,12],strides=[2,3]>(x,w)", dict(w=f(5, 3, 5, 4))),
    "shuffled": (2, {"x": (2, 24, 5, 7)}, "c=ConvTranspose<strides=[2,3]>(x,w,b) y=Sigmoid(c)", dict(w=f(24, 3, 2, 3), b=f(3))),
    "shuffled1": (2, {"x": (2, 5, 7)}, "y=ConvTranspose<strides=[4]>(x,w)", dict(w=f(5, 1, 4))),
    "shuffled2": (2, {"x": (2, 5, 7)}, "y=ConvTranspose<strides=[4]>(x,w)", dict(w=f(5, 2, 12))),
    "shuffledcut": (3, {"x": (2, 24, 5, 7)}, "c=ConvTranspose<strides=[2,3],pads=[1,0,1,2]>(x,w,b) y=Sigmoid(c)", dict(w=f(24, 3, 4, 3), b=f(3))),
    "keysaside": (1, {"q": (2, 3, 203, 13), "k": (2, 3, 13, 75), "v": (2, 3, 75, 9)}, "s=MatMul(q,k) t=Mul(s,c) p=Softmax<axis=-1>(t) y=MatMul(p,v)", dict(c=number(0.3))),
    "keysaside1": (1, {"q": (1, 1, 17, 40), "k": (1, 1, 40, 300), "v": (1, 1, 300, 40), "m": (1, 1, 17, 300)}, "s=MatMul(q,k) t=Add(s,m) p=Softmax<axis=-1>(t) y=MatMul(p,v)", {}),
    "scaledchannels": (1, {"x": (2, 6, 5, 7)}, "c=Conv<group=6>(x,w,b) y=Relu(c)", dict(w=f(6, 1, 1, 1), b=f(6))),
    "fewchannels": (1, {"x": (2, 6, 5, 7)}, "c=Conv(x,w,b) y=Relu(c)", dict(w=f(7, 6, 1, 1), b=f(7))),
    "trailing": (2, {"x": (6, 7, 5, 3)}, "e=Exp(x) y=ReduceSum<keepdims=0>(e,ax)", dict(ax=i(0, 3))),
    "trailing1": (2, {"x": (6, 7, 5, 3)}, "y=ReduceMean<axes=[1,3]>(x)", {}),
    "pointwise": (2, {"x": (2, 24, 5, 7)}, "c=Conv(x,w,b) s=Sigmoid(c) y=Mul(c,s)", dict(w=f(3, 24, 1, 1), b=f(3))),
    "pointwise1": (1, {"x": (3, 24, 9)}, "y=Conv(x,w)", dict(w=f(6, 24, 1))),
    "pointwise3d": (2, {"x": (1, 24, 2, 3, 5)}, "t=Transpose<perm=[0,1,4,3,2]>(x) y=Conv(t,w,b)", dict(w=f(5, 24, 1, 1, 1), b=f(5))),
    "shuffledgaps": (4, {"x": (2, 24, 5, 7)}, "c=ConvTranspose<strides=[2,3],pads=[0,1,1,0]>(x,w,b) y=Sigmoid(c)", dict(w=f(24, 3, 1, 2), b=f(3))),
    "shuffledgaps1": (3, {"x": (2, 5, 7)}, "y=ConvTranspose<strides=[4]>(x,w)", dict(w=f(5, 2, 1))),
    "shuffledgaps2": (4, {"x": (2, 5, 7, 3)}, "y=ConvTranspose<strides=[4,2]>(x,w,b)", dict(w=f(5, 2, 3, 5), b=f(2))),
    "shuffled3d": (2, {"x": (1, 9, 2, 3, 17)}, "y=ConvTranspose<strides=[1,2,2]>(x,w)", dict(w=f(9, 1, 3, 4, 2))),
    "gelutwice": (1, {"x": (3, 40)}, "d=Div(x,q) e=Erf(d) a=Add(e,o) y=Mul(x,a)", dict(q=number(2**0.5), o=number(1))),
    "causal": (1, {"x": (2, 5, 13)}, "c=Conv<pads=[4,4],dilations=[2]>(x,w,b) y=Slice(c,o,t,ax)", dict(w=f(7, 5, 3), b=f(7), o=i(0), t=i(-4), ax=i(2))),
    "cropped": (1, {"x": (1, 3, 9, 7)}, "c=Conv<pads=[2,3,2,3],strides=[1,2]>(x,w,b) r=LeakyRelu(c) y=Slice(r,o,t,ax)", dict(w=f(9, 3, 3, 3), b=f(9), o=i(2, 1, 1), t=i(-3, 9, -1), ax=i(1, 2, 3))),
    "croppedt": (1, {"x": (2, 4, 6, 5)}, "c=ConvTranspose<strides=[2,3],output_padding=[1,0],pads=[1,0,0,1]>(x,w,b) r=Relu(c) y=Slice(r,o,t,ax)", dict(w=f(4, 7, 3, 5), b=f(7), o=i(2, 1, 5), t=i(-2, 99, -4), ax=i(1, 2, 3))),
    "tapst": (1, {"x": (1, 4, 3, 4)}, "y=ConvTranspose<strides=[1,2],dilations=[3,2],pads=[6,3,7,4]>(x,w)", dict(w=f(4, 5, 5, 4))),
    "trchain": (1, {"x": (2, 3, 4, 5)}, "a=Transpose<perm=[0,2,3,1]>(x) b=Add(a,k) r=Relu(b) c=Transpose<perm=[0,3,1,2]>(r) y=Mul(c,x)", dict(k=f(5, 3))),
    "trtwo": (2, {"x": (2, 3, 4, 5), "z": (2, 3, 4, 5)}, "a=Transpose<perm=[3,2,0,1]>(x) b=Transpose<perm=[3,2,0,1]>(z) y=Add(a,b)", {}),
    "trwhere": (1, {"x": (3, 4), "z": (3, 4)}, "a=Transpose(x) b=Transpose(z) l=Less(a,b) s=Where(l,a,b) y=Transpose(s)", {}),
    "unit": (1, {"x": (1, 8, 1, 33)}, "a=Transpose<perm=[2,0,1,3]>(x) s=Squeeze(a,ax) b=Transpose<perm=[2,1,0]>(s) r=Tanh(b) y=Transpose<perm=[2,1,0]>(r)", dict(ax=i(0))),
    "across": (0, {"x": (3, 4, 5)}, "a=Transpose<perm=[2,0,1]>(x) s=Unsqueeze(a,ax) y=Transpose<perm=[2,3,0,1]>(s)", dict(ax=i(1))),
    "mmt": (1, {"x": (2, 5, 7), "z": (2, 6, 7)}, "a=Transpose<perm=[0,2,1]>(z) y=MatMul(x,a)", {}),
    "mmta": (1, {"x": (2, 7, 5), "z": (2, 7, 6)}, "a=Transpose<perm=[0,2,1]>(x) y=MatMul(a,z)", {}),
    "mmta2": (1, {"x": (7, 5), "z": (6, 7)}, "a=Transpose(x) b=Transpose(z) y=MatMul(a,b)", {}),
    "ln": (1, {"x": (2, 5, 37)}, "m=ReduceMean<axes=[-1]>(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean<axes=[-1]>(q) e=Add(v,eps) s=Sqrt(e) n=Div(d,s) g=Mul(n,w) y=Add(g,b)", dict(two=number(2), eps=number(1e-5), w=f(37), b=f(37))),
    "gln": (1, {"x": (2, 5, 37)}, "m=ReduceMean<axes=[1,2]>(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean<axes=[1,2]>(q) e=Add(v,eps) s=Sqrt(e) gd=Mul(w,d) n=Div(gd,s) y=Add(n,b)", dict(two=number(2), eps=number(1e-5), w=f(1, 5, 1), b=f(1, 5, 1))),
    "rms": (1, {"x": (2, 5, 37)}, "q=Mul(x,x) v=ReduceMean<axes=[-1]>(q) e=Add(v,eps) s=Sqrt(e) r=Reciprocal(s) n=Mul(x,r) y=Mul(w,n)", dict(eps=number(1e-5), w=f(37))),
    "gelu": (1, {"x": (5, 37)}, "a=Div(x,r2) e=Erf(a) o=Add(e,one) m=Mul(x,o) y=Mul(m,h)", dict(r2=number(2**.5), one=number(1), h=number(.5))),
    "gelut": (1, {"x": (5, 37)}, "c=Pow(x,three) a=Mul(c,k) b=Add(x,a) d=Mul(b,q) t=Tanh(d) o=Add(t,one) m=Mul(x,o) y=Mul(h,m)", dict(three=number(3), k=number(.044715), q=number((2/np.pi)**.5), one=number(1), h=number(.5))),
    "hsw": (1, {"x": (5, 37)}, "x3=Mul(x,th) a=Add(x3,th) c=Clip(a,z,s) m=Mul(x3,c) y=Div(m,s)", dict(th=number(3), z=number(0), s=number(6))),
    "twice": (1, {"x": (5, 37)}, "a=Neg(x) b=Abs(a) c=Abs(b) d=Neg(c) e=Neg(d) f=Add(e,x) g=Relu(f) h=Relu(g) i=Ceil(h) y=Ceil(i)", {}),
    "cat": (1, {"x": (2, 8, 3, 3), "z": (2, 8, 3, 3)}, "a=Concat<axis=1>(x,z) b=Concat<axis=-3>(a,x) y=Concat<axis=1>(b)", {}),
    "resh": (1, {"x": (4, 6), "z": (6, 4)}, "p=MatMul(x,z) r=Reshape(p,s) t=Clip(r,z0,o) y=Reshape(t,s2)", dict(s=i(1, 16), s2=i(2, -1), z0=number(0), o=number(1))),
    "slv": (2, {"x": (4, 6, 2)}, "r=Relu(x) a=Slice(r,o,t,ax) y=Tanh(a)", dict(o=i(1), t=i(3), ax=i(0))),
    "attention": (1, {"x": (2, 3, 5, 8), "z": (2, 3, 9, 8), "u": (2, 3, 9, 16)}, "k=Transpose<perm=[0,1,3,2]>(z) p=MatMul(x,k) q=Mul(p,s) m=Add(q,b) w=Softmax<axis=-1>(m) y=MatMul(w,u)", dict(s=number(0.35), b=f(2, 1, 1, 9))),
    "bnshared": (1, {"x": (1, 3, 8, 8)}, "a=Conv(x,w) n=BatchNormalization(a,s,b,m,v) c=Conv(x,w) d=Mul(c,q) y=Add(n,d)", dict(w=f(6, 3, 3, 3), q=f(6, 1, 1), **normalisation())),
}


# These are fused in float16, too.
HALVES = ["gelu", "gelut", "hsw", "attention"]


def model(inputs, nodes, weights, element="float"):
    declared = ", ".join(f"{element}[{','.join(map(str, shape))}] {name}" for name, shape in inputs.items())
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g ({declared}) => ({element}[] y) {{ {nodes} }}')
    made.graph.initializer.extend(numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items())
    made.graph.output[0].type.tensor_type.ClearField("shape")
    return onnx.shape_inference.infer_shapes(made)


def expected(made, data):
    return peer.session(made).run(None, data)[0]


def check(ingot, half, kernels, inputs, nodes, weights):
    """Nothing, or what is wrong. `half`: in float16, beside the same numbers in float32."""
    data = {value: f(*shape) for value, shape in inputs.items()}
    if half:
        weights, data = ({name: np.asarray(value).astype(np.float16) if np.asarray(value).dtype == np.float32 else value for name, value in each.items()} for each in (weights, data))
    wide = lambda values: {name: value.astype(np.float32) if value.dtype == np.float16 else value for name, value in values.items()}
    made, reference = model(inputs, nodes, weights, "float16" if half else "float"), model(inputs, nodes, wide(weights) if half else weights)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "data").mkdir()
        onnx.save(made, path / "m.onnx")
        for k, (value, array) in enumerate(data.items()):
            (path / "data" / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, value).SerializeToString())
        run = subprocess.run([ingot, "run", path / "m.onnx", "--data", path / "data", "--out", path / "out"], capture_output=True, text=True)
        if run.returncode:
            return run.stderr
        got, want = numpy_helper.to_array(onnx.load_tensor(path / "out" / "output_0.pb")), expected(reference, wide(data))
        tolerances = dict(rtol=1e-3, atol=5e-4) if half else dict(rtol=2e-4, atol=2e-5)
        if got.shape != want.shape or not np.allclose(got, want, **tolerances):
            return f"other numbers: {np.abs(got - want).max() if got.shape == want.shape else got.shape}"
        text = subprocess.run([ingot, "compile", path / "m.onnx", "--stop-after", "partition"], capture_output=True, text=True, cwd=folder).stdout
        count = text.count('"plan.kernel"')
        return None if count == kernels else f"{count} kernels, expected {kernels}"


def main():
    failures = 0
    cases = [(name, False) for name in CASES] + [(name, True) for name in HALVES]
    for name, half in cases:
        if wrong := check(pathlib.Path(sys.argv[1]).resolve(), half, *CASES[name]):
            print(f"{name}{', float16' if half else ''}: {wrong}")
            failures += 1
    print(f"{len(cases) - failures} of {len(cases)} passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
