"""Branches and loops, compiled once and run on several inputs: the same as ONNX Runtime, or the error value that a run must end with.

    run.py --ingot build/bin/ingot [--target T] [--only NAME,...] [-j 2]
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import ingot_run
import numpy as np
import onnx.parser
import onnxruntime
import peer
from onnx.reference import ReferenceEvaluator

from open_model import OpenModel, Refused, Status, one_variant

f32, i64 = lambda *v: np.float32(v), np.int64
matrix = lambda seed, *shape: np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
INDEX, SIZE, ABSENT = 5, 12, 14  # of ingot_status

PRESENT_OR_NOT = """{
  has = OptionalHasElement(o)
  y = If(has) <then_branch = t () => (float[1,n] r) { [need] e = OptionalGetElement(o) r = Add(e, x) }, else_branch = f () => (float[1,n] r) {
    s = ReduceSum <keepdims=0>(x)
    positive = Greater(s, zero)
    r = If(positive) <then_branch = t2 () => (float[1,n] q) { q = Neg(x) }, else_branch = f2 () => (float[1,n] q) { q = Exp(x) }>
  }>
}"""

# name: (graph in ONNX's text form, runs); a run is its inputs, or its inputs and the status that it must end with.
CASES = {
    "while_true": (
        """g (int64 n, bool c, float[2] x) => (float[2] y, bool last)
<float[2] w = {1, 2}, float lim = {10}>
{
  y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] a) => (bool more, float[2] next) { next = Add(a, w) s = ReduceSum <keepdims=0>(next) more = Less(s, lim) }>
  t = ReduceSum <keepdims=0>(y)
  last = Less(t, lim)
}""",
        [dict(n=i64(n), c=c, x=f32(0, 1)) for n, c in [(7, True), (2, True), (7, False), (-3, True), (0, True), (2**62, True)]],
    ),
    "next_from_all": (
        """g (int64 n, float[4,4] x, float[4,4] v) => (float[4,4] y, float[4,4] z)
{
  [turns] y, z = Loop(n, , x, v) <body = b (int64 i, bool go, float[4,4] a, float[4,4] c) => (bool go, float[4,4] d, float[4,4] a) { d = MatMul(c, a) }>
}""",
        [*(dict(n=i64(k), x=matrix(k, 4, 4), v=matrix(k + 9, 4, 4)) for k in (0, 1, 2, 3, 6)), (dict(n=i64(2**60), x=matrix(0, 4, 4), v=matrix(1, 4, 4)), f"status {SIZE}, turns")],
    ),
    "loop_in_loop": (
        """g (float[3] x) => (float[3] y, float[4,3] s, float[4,5,3] ss)
<int64 four = {4}, int64 five = {5}>
{
  y, s, ss = Loop(four, , x) <body = b (int64 i, bool go, float[3] a) => (bool go, float[3] o, float[3] a2, float[5,3] inner) {
     fi = Cast <to=1>(i)
     o, inner = Loop(five, , a) <body = c (int64 j, bool go2, float[3] e) => (bool go2, float[3] f, float[3] e2) { fj = Cast<to=1>(j) k = Add(fi, fj) f = Add(e, k) e2 = Mul(e, fj) }>
     a2 = Neg(a)
  }>
}""",
        [dict(x=f32(1, 2, 3))],
    ),
    "branches_in_branches": (
        """g (bool c, bool d, float[3] x) => (float[3] y, float[3] z, float[3] w)
{
  k = Exp(x)
  y, z, w = If(c) <then_branch = t () => (float[3] p, float[3] k2, float[3] q) {
       p = If(d) <then_branch = tt () => (float[3] r) { r = Neg(k) }, else_branch = te () => (float[3] r) { r = Relu(x) }>
       k2 = Identity(k)
       q = Add(p, k)
     }, else_branch = e () => (float[3] x2, float[3] x3, float[3] k3) { x2 = Identity(x) x3 = Identity(x) k3 = Mul(k, x) }>
}""",
        [dict(c=c, d=d, x=f32(-1, 2, 3)) for c in (False, True) for d in (False, True)],
    ),
    "branch_in_loop": (
        """g (float[8] x, float[8] v) => (float[8] y, float[6,8] s)
<int64 six = {6}, int64 two = {2}, int64 zero = {0}>
{
  k = Exp(v)
  y, s = Loop(six, , x) <body = b (int64 i, bool go, float[8] a) => (bool go, float[8] o, float[8] q) {
     m = Mod(i, two)
     even = Equal(m, zero)
     o = If(even) <then_branch = t () => (float[8] p) { p1 = Softmax(a) p = Add(p1, k) }, else_branch = e () => (float[8] p) { p = Sub(a, v) }>
     q = Mul(o, a)
  }>
}""",
        [dict(x=np.linspace(-1, 1, 8).astype(np.float32), v=np.linspace(0, 1, 8).astype(np.float32))],
    ),
    "values_change_places": (
        """g (int64 n, float[3] x, float[3] v) => (float[3] y, float[3] z, float[3] u)
{
  y, z, u = Loop(n, , x, v, x) <body = b (int64 i, bool go, float[3] a, float[3] c, float[3] d) => (bool go, float[3] c, float[3] d, float[3] a) { }>
}""",
        [dict(n=i64(k), x=f32(1, 2, 3), v=f32(4, 5, 6)) for k in (0, 1, 2, 4)],
    ),
    "small_elements": (
        """g (int64[1] n, bool[4] x, int64[4] v) => (bool[4] y, int64[4] z)
{
  y, z = Loop(n, , x, v) <body = b (int64[1] i, bool[1] go, bool[4] a, int64[4] c) => (bool[1] go, bool[4] d, int64[4] e) { d = Not(a) e = Add(c, i) }>
}""",
        [dict(n=i64([k]), x=np.array([1, 0, 0, 1], bool), v=i64([4, 5, 6, 7])) for k in (0, 1, 5)],
    ),
    "row_outside": (
        """g (int64 n, float[5,3] x, float[3] h) => (float[3] y)
{
  [turns] y = Loop(n, , h) <body = b (int64 i, bool go, float[3] a) => (bool go, float[3] o) { [row] e = Gather<axis=0>(x, i) o = Add(a, e) }>
}""",
        [dict(n=i64(5), x=matrix(1, 5, 3), h=f32(0, 1, 2)), (dict(n=i64(6), x=matrix(1, 5, 3), h=f32(0, 1, 2)), f"status {INDEX}, turns/row")],
    ),
    "row_before_the_first": (
        """g (int64[1] i, float[5,3] x) => (float[k,3] y)
<int64[1] one = {1}, int64[1] zero = {0}>
{
  j = Add(i, one)
  [cut] y = Slice(x, i, j, zero)
}""",
        [dict(i=i64([k]), x=matrix(1, 5, 3)) for k in (4, -2, -5, -1, 5, -6)],
    ),
    "row_that_is_needed": (
        """g (int64[1] i, float[5,3] x) => (float[3] y)
<int64[1] one = {1}, int64[1] zero = {0}>
{
  j = Add(i, one)
  [cut] row = Slice(x, i, j, zero)
  y = Squeeze(row, zero)
}""",
        [dict(i=i64([4]), x=matrix(1, 5, 3)), dict(i=i64([-2]), x=matrix(1, 5, 3)), *((dict(i=i64([k]), x=matrix(1, 5, 3)), f"status {INDEX}, cut") for k in (-1, 5))],
    ),
    "rows_up_to_the_end": (
        """g (int64 n, float[5,3] x) => (float[k,3] y)
<int64[1] one = {1}, int64[1] zero = {0}, float[0,3] none = {}>
{
  y = Loop(n, , none) <body = b (int64 i, bool go, float[m,3] a) => (bool go, float[j,3] o) { begin = Reshape(i, one) end = Add(begin, one) row = Slice(x, begin, end, zero) o = Concat<axis=0>(a, row) }>
}""",
        [dict(n=i64(k), x=matrix(1, 5, 3)) for k in (0, 1, 5, 7)],
    ),
    "reflection_of_too_few": (
        """g (float[n] x) => (float[k] y)
<int64[2] pads = {3, 1}>
{
  [pad] y = Pad<mode="reflect">(x, pads)
}""",
        [dict(x=f32(1, 2, 3, 4)), dict(x=f32(1, 2, 3, 4, 5, 6)), (dict(x=f32(1, 2, 3)), f"status {SIZE}, pad")],
    ),
    "branch_that_fails": (
        """g (bool c, float[3] x, float[2] v) => (float[3] y)
{
  [choice] y = If(c) <then_branch = a () => (float[3] t) { t = Add(x, v) }, else_branch = e () => (float[3] t) { t = Relu(x) }>
}""",
        [dict(c=False, x=f32(-1, 2, 3), v=f32(1, 2)), (dict(c=True, x=f32(-1, 2, 3), v=f32(1, 2)), f"status {SIZE}, choice")],
    ),
    "branch_with_sizes": (
        """g (bool c, float[n] x, float[m] v) => (float[n] y)
{
  [choice] y = If(c) <then_branch = a () => (float[k] t) { [both] t = Add(x, v) }, else_branch = e () => (float[k] t) { t = Relu(x) }>
}""",
        [
            dict(c=False, x=f32(-1, 2, 3), v=f32(1, 2)),
            dict(c=True, x=f32(-1, 2, 3), v=f32(1, 2, 3)),
            (dict(c=True, x=f32(-1, 2, 3), v=f32(1, 2)), f"status {SIZE}, choice/both"),
        ],
    ),
}


CASES |= {
    "optional": (
        "g (optional(float[1,n]) o, float[1,n] x) => (float[1,n] y)\n<float zero = {0}>\n" + PRESENT_OR_NOT,
        [dict(o=o, x=sign * matrix(1, 1, n)) for n in (1, 2, 17) for o in (matrix(2, 1, n), None) for sign in (1, -1)],
    ),
    "optional_fixed": (
        "g (optional(float[1,3]) o, float[1,3] x) => (float[1,3] y)\n<float zero = {0}>\n" + PRESENT_OR_NOT.replace("n]", "3]"),
        [dict(o=o, x=matrix(1, 1, 3)) for o in (matrix(2, 1, 3), None)],
    ),
    "optional_needed": (
        "g (optional(float[3]) o, optional(float[2]) p, float[3] x) => (float[3] y, bool both)\n"
        "{ [need] e = OptionalGetElement(o) y = Add(e, x) a = OptionalHasElement(o) b = OptionalHasElement(p) both = And(a, b) }",
        [
            dict(o=f32(1, 2, 3), p=f32(1, 2), x=f32(4, 5, 6)),
            dict(o=f32(1, 2, 3), p=None, x=f32(4, 5, 6)),
            (dict(o=None, p=f32(1, 2), x=f32(4, 5, 6)), f"status {ABSENT}, need"),
        ],
    ),
    "optional_needed_in_branch": (
        """g (bool c, optional(float[3]) o, float[3] x) => (float[3] y)
{ y = If(c) <then_branch = t () => (float[3] r) { [need] e = OptionalGetElement(o) r = Add(e, x) }, else_branch = f () => (float[3] r) { r = Neg(x) }> }""",
        [
            dict(c=True, o=f32(1, 2, 3), x=f32(4, 5, 6)),
            dict(c=False, o=None, x=f32(4, 5, 6)),
            (dict(c=True, o=None, x=f32(4, 5, 6)), f"status {ABSENT}, y/need"),
        ],
    ),
    "squeeze_axes": (
        """g (float[n,3,m] x) => (float[a] y) <int64[2] axes = {0, -1}> { [squeeze] y = Squeeze(x, axes) }""",
        [dict(x=matrix(1, 1, 3, 1)), (dict(x=matrix(1, 2, 3, 1)), f"status {SIZE}, squeeze"), (dict(x=matrix(1, 1, 3, 2)), f"status {SIZE}, squeeze")],
    ),
    "squeeze_all": (
        """g (float[n,1,3] x) => (float[a] y) { [squeeze] y = Squeeze(x) }""",
        [dict(x=matrix(1, 1, 1, 3)), *((dict(x=matrix(1, n, 1, 3)), f"status {SIZE}, squeeze") for n in (0, 2))],
    ),
    "crop": (
        """g (float[1,2,h,w] x) => (float[a,b,c,d] y, float[e,f,i,j] z) { [border] y = Crop<border = [1, 2, 0, 4]>(x) [scale] z = Crop<border = [1, 2, 0, 0], scale = [5, 3]>(x) }""",
        [
            *(dict(x=matrix(1, 1, 2, h, w)) for h, w in ((9, 4), (7, 17), (7, 4))),
            (dict(x=matrix(1, 1, 2, 6, 9)), f"status {SIZE}, scale"),
            (dict(x=matrix(1, 1, 2, 9, 3)), f"status {SIZE}, scale"),
            (dict(x=matrix(1, 1, 2, 5, 0)), f"status {SIZE}, border"),
        ],
    ),
    "optional_known": (
        """g (float[3] x) => (float[3] y, bool there, bool other, bool none)
{
  o = Optional(x)
  same = Identity(o)
  there = OptionalHasElement(same)
  y = If(there) <then_branch = t () => (float[3] r) { r = OptionalGetElement(o) }, else_branch = f () => (float[3] r) { r = Neg(x) }>
  other = OptionalHasElement(x)
  none = OptionalHasElement()
}""",
        [dict(x=f32(4, 5, 6))],
    ),
}

# Sizes that iterations change.
GROWING = {
    "rows_behind": (  # a known trip count, and one that the run is given
        """g (int64 n, float[2,3] x, float[1,3] r) => (float[a,3] y, float[b,3] z)
<int64 five = {5}>
{
  y = Loop(five, , x) <body = b (int64 i, bool go, float[k,3] a) => (bool go, float[j,3] o) { h = Neg(r) o = Concat<axis=0>(a, h) }>
  z = Loop(n, , x) <body = c (int64 i, bool go, float[k,3] a) => (bool go, float[j,3] o) { h = Cast<to=1>(i) s = Add(r, h) o = Concat<axis=0>(a, s) }>
}""",
        [*(dict(n=i64(k), x=matrix(k, 2, 3), r=matrix(7, 1, 3)) for k in (0, 1, 2, 17)), dict(n=i64(-5), x=matrix(3, 2, 3), r=matrix(7, 1, 3)),
         (dict(n=i64(2**60), x=matrix(3, 2, 3), r=matrix(7, 1, 3)), f"status {SIZE}, z")],
    ),
    "rows_read_behind": (  # what follows from the longer value is another one that changes
        """g (int64 n, float[1,3] x, float[1,3] r) => (float[a,3] y, float[b,3] z)
{
  y, z = Loop(n, , x, x) <body = b (int64 i, bool go, float[k,3] a, float[l,3] c) => (bool go, float[j,3] o, float[j,3] p) { h = Cast<to=1>(i) s = Add(r, h) o = Concat<axis=0>(a, s, r) p = Neg(o) }>
}""",
        [dict(n=i64(k), x=matrix(k, 1, 3), r=matrix(7, 1, 3)) for k in (0, 1, 2, 17)],
    ),
    "rows_found_behind": (  # as many as data tells, at most four in each of five turns
        """g (float[1,3] x, float[5,4,3] rows) => (float[a,3] y)
<int64 five = {5}, float zero = {0}, int64[1] last = {-1}>
{
  y = Loop(five, , x) <body = b (int64 i, bool go, float[k,3] a) => (bool go, float[j,3] o) {
    some = Gather(rows, i)
    sums = ReduceSum<keepdims=0>(some, last)
    which = Greater(sums, zero)
    picked = Compress<axis=0>(some, which)
    o = Concat<axis=0>(a, picked)
  }>
}""",
        [dict(x=matrix(k, 1, 3), rows=np.float32(k - 1) + matrix(k, 5, 4, 3)) for k in (0, 1, 2, 3)],
    ),
    "greedy": (  # tokens and two caches grow alike until a token ends it
        """g (int64 most, int64[1,s] prompt, float[16,8] table, float[8,16] w) => (int64[1,t] tokens, float[1,2,u,4] keys, float[1,2,v,4] values)
<int64 limit = {24}, float[1,2,0,4] none = {}, int64[4] heads = {1, -1, 2, 4}, int64[1] one = {1}, int64[1] last = {-1}, int64[1] end = {9223372036854775807}, int64 stop = {3}, int64[2] flat = {1, 8}, int64[2] back = {1, 1}, bool yes = {1}>
{
  n = Min(most, limit)
  tokens, keys, values = Loop(n, yes, prompt, none, none) <body = b (int64 i, bool go, int64[1,p] ids, float[1,2,q,4] k0, float[1,2,r,4] v0) => (bool more, int64[1,p1] ids1, float[1,2,q1,4] k1, float[1,2,r1,4] v1) {
    id = Slice(ids, last, end, one)
    x = Gather(table, id)
    h0 = Reshape(x, heads)
    h = Transpose<perm=[0,2,1,3]>(h0)
    hn = Neg(h)
    k1 = Concat<axis=2>(k0, h)
    v1 = Concat<axis=2>(v0, hn)
    kt = Transpose<perm=[0,1,3,2]>(k1)
    s = MatMul(h, kt)
    p = Softmax(s)
    a = MatMul(p, v1)
    at = Transpose<perm=[0,2,1,3]>(a)
    f = Reshape(at, flat)
    logits = MatMul(f, w)
    token = ArgMax<axis=1>(logits)
    ids1 = Concat<axis=1>(ids, token)
    t = Squeeze(token)
    same = Equal(t, stop)
    more = Not(same)
  }>
}""",
        [dict(most=i64(k), prompt=np.int64([[1, 2, 5][:p]]), table=matrix(k & 31, 16, 8), w=matrix(p, 8, 16)) for k in (0, 1, 2, 17, 2**62, -1) for p in (1, 3)],
    ),
    "shrinks": (
        """g (int64 n, float[m,2] x) => (float[a,2] y, float[b] sums)
<int64[1] one = {1}, int64[1] end = {9223372036854775807}, int64[1] zero = {0}, bool yes = {1}, int64 twenty = {20}>
{
  y, sums = Loop(twenty, yes, x) <body = b (int64 i, bool go, float[k,2] a) => (bool more, float[j,2] o, float s) { o = Slice(a, one, end, zero) s = ReduceSum<keepdims=0>(a) next = Add(i, one0) more = Less(next, n) one0 = Constant<value_int=1>() }>
}""".replace("next = Add(i, one0) more = Less(next, n) one0 = Constant<value_int=1>()", "one0 = Constant<value_int=1>() next = Add(i, one0) more = Less(next, n)"),
        [dict(n=i64(k), x=matrix(k, m, 2)) for k in (1, 2, 3, 17, 40) for m in (1, 3, 19)],
    ),
    "rows_that_data_picks": (  # as many rows as are not zero each time
        """g (int64 n, float[r,4] x) => (float[a,2] y)
<int64[0,2] none = {}>
{
  e = Cast<to=1>(none)
  y = Loop(n, , e) <body = b (int64 i, bool go, float[k,2] a) => (bool go, float[j,2] o) { row = Gather(x, i) w = NonZero(row) t = Transpose(w) f = Cast<to=1>(t) u = Add(f, i2) d = Concat<axis=1>(f, u) o = Concat<axis=0>(a, d) }>
}""".replace("u = Add(f, i2)", "i2 = Cast<to=1>(i) u = Add(f, i2)"),
        [dict(n=i64(k), x=np.float32(np.random.default_rng(k).integers(0, 2, (17, 4)))) for k in (0, 1, 2, 17)],
    ),
    "one_or_none": (  # an axis that is 1 or 0 is not taken for 1
        """g (float[1,2] x, float[1] w) => (float[a,2] y, float[b] z)
<int64 three = {3}, int64[1] one = {1}, int64[1] end = {9223372036854775807}, int64[1] zero = {0}, bool yes = {1}>
{
  v = Loop(three, yes, x) <body = b (int64 i, bool go, float[k,2] a) => (bool go, float[j,2] o) { o = Slice(a, one, end, zero) }>
  y = Neg(v)
  f = NonZero(w)
  s = Squeeze(f, zero)
  z = Cast<to=1>(s)
}""",
        [dict(x=matrix(1, 1, 2), w=f32(v)) for v in (0, 1)],
    ),
    "window": (  # the last three rows of what has been seen
        """g (int64 n, float[9,2] x) => (float[a,2] y, float[b] means)
<float[0,2] none = {}, int64[1] three = {-3}, int64[1] end = {9223372036854775807}, int64[1] zero = {0}, int64 nine = {9}, bool yes = {1}>
{
  m = Min(n, nine)
  y, means = Loop(m, , none) <body = b (int64 i, bool go, float[k,2] a) => (bool go, float[j,2] o, float mean) { row = Gather(x, i) up = Unsqueeze(row, zero) all = Concat<axis=0>(a, up) o = Slice(all, three, end, zero) mean = ReduceMean<keepdims=0>(o) }>
}""",
        [dict(n=i64(k), x=matrix(k, 9, 2)) for k in (0, 1, 2, 3, 4, 9)],
    ),
    "doubles": (  # no trip count bounds it: memory is asked for
        """g (float[m] x, float lim) => (float[a] y, float[b] z)
<bool yes = {1}>
{
  y = Loop( , yes, x) <body = b (int64 i, bool go, float[k] a) => (bool more, float[j] o) { h = Exp(a) hn = Neg(h) o = Concat<axis=0>(hn, a) s = Size(o) f = Cast<to=1>(s) more = Less(f, lim) }>
  z = Relu(y)
}""",
        [dict(x=matrix(m, m) * np.float32(0.01), lim=np.float32(v)) for m in (1, 3) for v in (0, 5, 100)],
    ),
    "grows_in_loop": (  # an inner loop lengthens what the outer one carries; the branch adds two rows or none
        """g (int64 n, int64 m, float[1,2] x) => (float[a,2] y)
<int64 one = {1}, int64 two = {2}, int64 zero = {0}>
{
  y = Loop(n, , x) <body = b (int64 i, bool go, float[k,2] a) => (bool go, float[j,2] o) {
    c = Loop(m, , a) <body = d (int64 i2, bool go2, float[k2,2] e) => (bool go2, float[j2,2] f) { g = Neg(x) f = Concat<axis=0>(e, g) }>
    r = Mod(i, two)
    odd = Equal(r, one)
    o = If(odd) <then_branch = t () => (float[q,2] p) { p = Concat<axis=0>(x, c, x) }, else_branch = s () => (float[q,2] p) { p = Exp(c) }>
  }>
}""",
        [dict(n=i64(k), m=i64(l), x=matrix(k, 1, 2)) for k in (0, 1, 2, 3) for l in (0, 1, 2, 17)],
    ),
    "slices_of_found_size": (  # all of one size, which only data tells
        """g (int64 n, float[r,6] x, float[6] mask) => (float[a,b] y)
<bool yes = {1}>
{
  [turns] y = Loop(n, yes) <body = b (int64 i, bool go) => (bool go, float[c] o) { row = Gather(x, i) m = Cast<to=9>(mask) o = Compress<axis=0>(row, m) }>
}""",
        [dict(n=i64(k), x=matrix(k, 17, 6), mask=np.float32(mask)) for k in (0, 1, 2, 17) for mask in ([1, 0, 1, 1, 0, 0], [0] * 6, [1] * 6)],
    ),
    "slices_that_differ": (
        """g (float[r,6] x) => (float[a,b] y)
<int64 four = {4}, bool yes = {1}>
{
  [turns] y = Loop(four, yes) <body = b (int64 i, bool go) => (bool go, float[c] o) { row = Gather(x, i) m = Cast<to=9>(row) o = Compress<axis=0>(row, m) }>
}""",
        [dict(x=np.float32([[1, 0, 2, 0, 3, 0], [0, 4, 0, 5, 0, 6], [7, 8, 9, 0, 0, 0], [0, 0, 0, 1, 2, 3]])), dict(x=np.zeros((4, 6), np.float32)),
         (dict(x=np.float32([[1, 0, 2, 0, 3, 0], [0, 4, 0, 5, 0, 6], [7, 8, 9, 1, 0, 0], [0, 0, 0, 1, 2, 3]])), f"status {SIZE}, turns")],
    ),
    "slices_without_bound": (
        """g (int64 n, int64 m, float lim) => (float[a,b] y)
<bool yes = {1}, int64 zero = {0}, int64 one = {1}>
{
  [turns] y = Loop( , yes) <body = b (int64 i, bool go) => (bool more, float[c] o) { j = Div(i, m) k = Add(n, j) l = Range(zero, k, one) f = Cast<to=1>(l) i2 = Cast<to=1>(i) o = Add(f, i2) more = Less(i2, lim) }>
}""",
        [*(dict(n=i64(k), m=i64(100), lim=np.float32(v)) for k in (0, 1, 5) for v in (0, 1, 16)), (dict(n=i64(3), m=i64(4), lim=np.float32(9)), f"status {SIZE}, turns")],
    ),
}
# What Paddle's exporter makes of a while loop: what only iterations make is carried, too, and begins as any value; a flag is a
# number here and a list of one there.
WHILE = {
    "placeholders": (
        """g (float[n,3] x, float lim) => (float[a,3] y, float[b,c] z)
<float none = {7}, float[1] other = {8}, bool yes = {1}, int64 many = {1024}>
{
  y, z, unread = Loop(many, yes, x, none, other) <body = b (int64 i, bool go, float[k,3] a, float q, float[1] r) => (bool more, float[l,3] o, float[u,v] p, float[w] t) { o = Add(a, a) p = Transpose(o) s = ReduceSum<keepdims=0>(o) m = Less(s, lim) more = Identity(m) axis = Constant<value_ints=[1]>() t = ReduceSum<keepdims=0>(o, axis) }>
}""",
        [dict(x=np.abs(matrix(n, n, 3)), lim=np.float32(v)) for n in (1, 2, 7) for v in (0, 5, 1000)],
    ),
    "placeholder_by_chance": (  # seen where the loop does not turn
        """g (int64 n, float[3] x, float[3] first) => (float[3] y)
{
  y = Loop(n, , first) <body = b (int64 i, bool go, float[3] a) => (bool go, float[3] o) { f = Cast<to=1>(i) o = Add(x, f) }>
}""",
        [dict(n=i64(k), x=f32(1, 2, 3), first=f32(7, 8, 9)) for k in (0, 1, 2)],
    ),
    "flag_of_two_ranks": (
        """g (float[3] x, float lim, float first) => (float[3] y, int64 turns)
<bool yes = {1}, bool no = {0}, int64 zero = {0}, int64 many = {100}, int64 one = {1}>
{
  y, stop, turns = Loop(many, yes, x, no, zero) <body = b (int64 i, bool go, float[3] a, bool before, int64 count) => (bool more, float[3] o, bool flag, int64 next) {
    o = Add(a, a)
    next = Add(count, one)
    s = ReduceSum<keepdims=0>(o)
    large = Greater(s, lim)
    late = If(large) <then_branch = t () => (bool[1] p) { p0 = Constant<value_ints=[1]>() p = Cast<to=9>(p0) }, else_branch = f () => (bool q) { n0 = Cast<to=7>(before) n1 = Add(n0, zero) q = Cast<to=9>(n1) }>
    nf = Cast<to=7>(late)
    ng = Add(nf, zero)
    flag = Cast<to=9>(ng)
    goes = Not(late)
    early = Less(s, first)
    more = Or(goes, early)
  }>
}""",
        [dict(x=f32(1, 2, 3), lim=np.float32(v), first=np.float32(w)) for v in (0, 20, 1000) for w in (0, 3000)],
    ),
    "list_and_number": (  # it begins as a list
        """g (float[3] x, float lim) => (float[3] y, float[3] z)
<bool yes = {1}, bool[1] no = {0}, int64 many = {100}>
{
  y, stop = Loop(many, yes, x, no) <body = b (int64 i, bool go, float[3] a, bool[1] before) => (bool more, float[3] o, bool next) {
    o = If(before) <then_branch = t () => (float[3] p) { p = Add(a, a) }, else_branch = f () => (float[3] q) { q = Add(a, x) }>
    s = ReduceSum<keepdims=0>(o)
    ten = Constant<value_float=10.0>()
    next = Greater(s, ten)
    more = Less(s, lim)
  }>
  z = If(stop) <then_branch = t () => (float[3] p) { p = Neg(y) }, else_branch = f () => (float[3] q) { q = Exp(y) }>
}""",
        [dict(x=f32(1, 2, 3), lim=np.float32(v)) for v in (0, 20, 1000)],
    ),
}

CHOICE = "[pick] y = If(c) <then_branch = t () => (float[2] p) { p = Neg(v) }, else_branch = f () => (float[2] q) { q = Abs(v) }>"
BEYOND = "<bool[4] o = {0, 1, 1, 0}, int64[4] o64 = {0, 1, 2, 3}, int64[1] one = {1}, int64[1] two = {2}, int64[1] none = {0}, bool yes = {1}>"


def by(condition, *inputs):
    return f"""g ({", ".join(inputs)}, float[2] v) => (float[2] y) {BEYOND} {{ {condition} {CHOICE} }}"""


def picked(name, *values, bad=()):
    """A run for each value of an input: those of `bad` end with an error value."""
    return [dict({name: v}, v=f32(1, -2)) for v in values] + [(dict({name: v}, v=f32(1, -2)), f"status {SIZE}, pick") for v in bad]


# Conditions and trip counts of which only the run knows that they are one.
LENGTHS = {
    "condition_cut": (by("j = Add(i, one) k = Add(i, two) c = Slice(o, j, k)", "int64[1] i"), picked("i", [0], [1], [2], bad=([3], [-2]))),
    "condition_cut_open": (by("c = Slice(m, none, one)", "bool[n] m"), picked("m", [True], [False, True], bad=(np.zeros(0, bool),))),
    "condition_picked": (
        by("c = Compress(o, m)", "bool[4] m"),
        picked("m", np.eye(4, dtype=bool)[1], np.eye(4, dtype=bool)[3], bad=(np.zeros(4, bool), np.ones(4, bool))),
    ),
    "condition_of_unique": (by("u = Unique(x) c = Cast<to=9>(u)", "int64[3] x"), picked("x", [1, 1, 1], [0, 0, 0], bad=([0, 1, 1],))),
    "condition_split": (
        by("c, rest = Split(m, s)", "bool[3] m", "int64[2] s"),
        [dict(run, s=[1, 2]) for run in picked("m", [True, False, False], [False, True, True])],
    ),
    "condition_open": (by("c = Identity(m)", "bool[n] m"), picked("m", [True], [False], bad=(np.zeros(0, bool), [True, True]))),
    "condition_of_two_axes": (by("c = Identity(m)", "bool[n,k] m"), picked("m", [[True]], [[False]], bad=([[True, False]],))),
    "trips_cut": (
        by("j = Add(i, one) k = Add(i, two) c = Slice(o64, j, k)", "int64[1] i").replace(
            CHOICE, "[pick] y = Loop(c, yes, v) <body = b (int64 n, bool go, float[2] a) => (bool go, float[2] w) { w = Add(a, a) }>"
        ),
        picked("i", [0], [1], [2], bad=([3],)),
    ),
    "goes_on_cut": (  # the condition of the next iteration
        by("", "int64[1] i").replace(
            CHOICE,
            """four = Constant<value_int=4>()
  [pick] y = Loop(four, yes, v) <body = b (int64 n, bool go, float[2] a) => (bool more, float[2] w) {
    w = Add(a, a) k = Add(i, n) m = Add(n, one) l = Add(i, m) more = Slice(o, k, l) }>""",
        ),
        picked("i", [0], [1], [2], bad=([4], [9])),
    ),
}

# The same of numbers that operators take.
NUMBERS = {
    "range_of_cut": ("int64[l] y", "zero = Constant<value_int=0>() step = Constant<value_int=1>() [pick] y = Range(zero, c, step)"),
    "one_hot_of_cut": ("int64[m,l] y", "off_on = Constant<value_floats=[0.0, 1.0]>() [pick] y0 = OneHot(two, c, off_on) y = Cast<to=7>(y0)"),
}
for name, (output, node) in NUMBERS.items():
    text = f"""g (int64[1] i, float[2] v) => ({output}) {BEYOND} {{ j = Add(i, one) k = Add(i, two) c = Slice(o64, j, k) {node} }}"""
    LENGTHS[name] = (text, picked("i", [0], [1], [2], bad=([3],)))

# Tensors whose shape is computed, in sequences.
EXPANDED = {
    "expanded_and_joined": (
        """g (float[d] x) => (float[e] y) <float[1] one = {1}>
{ s = Shape(x) w = Expand(one, s) q = SequenceConstruct(x, w) y = ConcatFromSequence<axis=0>(q) }""",
        [dict(x=np.arange(n, dtype=np.float32)) for n in (1, 3, 0)],
    ),
    "expanded_by_data": (
        """g (float[1,d] x, int64[2] s) => (float[e,f] y, float[g,h] z, int64 n)
{
  w = Expand(x, s)
  q = SequenceConstruct(w, x, w)
  y = ConcatFromSequence<axis=-2>(q)
  p = SplitToSequence<axis=0>(w)
  z = ConcatFromSequence<axis=1>(p)
  n = SequenceLength(p)
}""",
        [dict(x=matrix(d, 1, d), s=[n, d]) for n, d in ((1, 3), (4, 2), (2, 1))],
    ),
    "expanded_as_exporters_do": (  # where an entry of -1 stays
        """g (float[d,1] x, int64[2] s) => (float[e,f] y)
<int64 minus = {-1}>
{
  l = Shape(s)
  ones = ConstantOfShape<value = int64[1] {1}>(l)
  left = Mul(ones, minus)
  is = Equal(s, left)
  to = Where(is, ones, s)
  w = Expand(x, to)
  q = SequenceConstruct(x, w)
  y = ConcatFromSequence<axis=1>(q)
}""",
        [dict(x=matrix(d, d, 1), s=s) for d, s in ((3, [3, 4]), (2, [-1, 5]), (1, [-1, -1]))],
    ),
    "expanded_in_a_loop": (
        """g (float[d] x) => (float[e] y)
<float[1] one = {1}, int64[1] minus = {-1}, int64[1] next = {1}, bool yes = {1}>
{
  s = Shape(x)
  w = Expand(one, s)
  n = Size(x)
  start = SequenceEmpty()
  q = Loop(n, yes, start) <body = b (int64 i, bool go, seq(float[1]) a) => (bool go, seq(float[1]) c) {
    k = Reshape(i, minus) l = Add(k, next) r = Slice(w, k, l) c = SequenceInsert(a, r) }>
  y = ConcatFromSequence<axis=0>(q)
}""",
        [dict(x=np.arange(n, dtype=np.float32)) for n in (1, 3)],
    ),
    "picked_out_of_expanded": (
        """g (float[d] x, int64 k) => (float[e] y) <float[1] one = {1}> { s = Shape(x) w = Expand(one, s) q = SequenceConstruct(x, w) y = SequenceAt(q, k) }""",
        [dict(x=np.arange(4, dtype=np.float32) + 3, k=i64(k)) for k in (0, 1, -2)],
    ),
    "joined_of_any_rank": (  # which is known when the list of sizes has been computed
        """g (float[d,2] x) => (float[e,2] y)
<int64 zero = {0}, int64 one = {1}>
{
  s = Shape(x)
  n = Size(s)
  all = Range(zero, n, one)
  l = Gather(s, all)
  w = Reshape(x, l)
  q = SequenceConstruct(w, w)
  y = ConcatFromSequence<axis=0>(q)
}""",
        [dict(x=matrix(n, n, 2)) for n in (1, 3)],
    ),
}
CASES |= GROWING | WHILE | LENGTHS | EXPANDED


def reference(model):
    if any(node.op_type.startswith("Optional") for node in model.graph.node):
        return ReferenceEvaluator(model)
    try:
        return peer.session(model)
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:  # a branch that no run may take
        return ReferenceEvaluator(model)


def sizes_of(model, feeds):
    inputs = [value for value in model.graph.input if feeds[value.name] is not None]
    tensor = lambda kind: kind.optional_type.elem_type.tensor_type if kind.HasField("optional_type") else kind.tensor_type
    dims = [(dim.dim_param, size) for value in inputs for dim, size in zip(tensor(value.type).shape.dim, feeds[value.name].shape)]
    return {name: size for name, size in dims if name}


def one(arguments, name):
    text, runs = CASES[name]
    opset = 18 if "Optional" in text else 6 if "Crop" in text else 13
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n' + text)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="ingot-control-") as scratch:
        try:
            compiled = OpenModel(arguments.ingot, model, scratch, arguments.target, one_variant(model))
        except Refused as refused:
            return name, [f"refused: {refused}"]
        for number, run in enumerate(runs):
            feeds, status = run if isinstance(run, tuple) else (run, "")
            feeds = {key: None if value is None else np.asarray(value) for key, value in feeds.items()}
            try:
                got = compiled.run(feeds, sizes_of(model, feeds))
            except Status as error:
                if str(error) != status:
                    wrong.append(f"run {number}: {error}, expected {status or 'values'}")
                continue
            if status:
                wrong.append(f"run {number}: values, expected {status}")
                continue
            wanted = reference(model).run(None, feeds)
            for output, want, have in zip(model.graph.output, wanted, got):
                want = want[0] if isinstance(want, list) else want  # how the reference evaluator holds optional values
                if difference := ingot_run.difference(have, want):
                    wrong.append(f"run {number}: {output.name}: {difference}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
