"""Products."""
import itertools

import numpy as np

from .case import Case, case, ODD


def product(c, a, b, a_turned=False, b_turned=False, constant=False, dtype=np.float32, behind=None):
    x = c.input(*a, dtype=dtype)
    y = c.weights(*b, dtype=dtype) if constant else c.input(*b, dtype=dtype)
    turn = lambda v, rank: c.op("Transpose", v, perm=[*range(rank - 2), rank - 1, rank - 2])
    x, y = turn(x, len(a)) if a_turned else x, turn(y, len(b)) if b_turned else y
    z = c.op("MatMul", x, y)
    return c.output(behind(z) if behind else z, dtype)


@case
def rows_open():
    c = Case()
    for k, n in [(64, 48), (33, 37), (7, 5), (768, 100), (5, 1)]:
        product(c, ["m", k], [k, n], constant=True)
        product(c, ["m", k], [k, n])
        product(c, ["m", k], [n, k], b_turned=True)
        product(c, [k, "m"], [k, n], a_turned=True)
    return c.at(m=[*ODD, 4, 5, 6, 9, 12, 15, 16, 128, 384, 0])


@case
def columns_open():
    c = Case()
    for m, k in [(1, 64), (2, 9), (3, 33), (17, 20), (40, 5)]:
        product(c, [m, k], [k, "n"])
        product(c, [m, k], ["n", k], b_turned=True)
        product(c, [k, m], [k, "n"], a_turned=True)
        product(c, [2, m, k], [2, k, "n"])
    return c.at(n=[*ODD, 5, 16, 32, 33, 47, 48, 49, 129, 0])


@case
def depth_open():
    c = Case()
    for m, n in [(1, 1), (1, 64), (2, 17), (13, 33), (50, 8)]:
        product(c, [m, "k"], ["k", n])
        product(c, [m, "k"], [n, "k"], b_turned=True)
        product(c, ["k", m], ["k", n], a_turned=True)
    return c.at(k=[*ODD, 4, 5, 6, 16, 200, 0])


@case
def all_open():
    c = Case()
    product(c, ["m", "k"], ["k", "n"])
    product(c, ["m", "k"], ["n", "k"], b_turned=True)
    product(c, ["k", "m"], ["k", "n"], a_turned=True)
    product(c, ["k", "m"], ["n", "k"], a_turned=True, b_turned=True)
    product(c, ["b", "m", "k"], ["b", "k", "n"])
    product(c, ["b", 2, "m", "k"], ["b", 2, "n", "k"], b_turned=True)
    product(c, ["b", "m", "k"], ["k", "n"])
    product(c, ["k"], ["k", "n"])
    product(c, ["m", "k"], ["k"])
    product(c, ["k"], ["k"])
    product(c, ["k"], ["b", "k", "n"])
    product(c, ["b", "m", "k"], ["k"])
    product(c, [1, 3, "m", "k"], ["b", 1, "k", "n"])
    product(c, ["b", 1, "m", "k"], [3, "k", "n"])
    product(c, ["m", "k"], ["b", "k", "n"])
    product(c, ["b", 1, "m", 16], [3, 16, 5])
    c.each(b=[1, 3], m=[1, 2, 7, 17], n=[1, 8, 33], k=[1, 5, 64])
    c.at(b=[2, 1], m=ODD, n=ODD[3:] + ODD[:3], k=ODD[6:] + ODD[:6])
    return c.at(b=[0, 1, 2, 1], m=[2, 0, 3, 3], n=[3, 3, 0, 5], k=[3, 3, 4, 0])


@case
def batch_open():
    c = Case()
    product(c, ["b", 5, 32], [32, 48], constant=True)
    product(c, ["b", 4, 13, 32], [1, 4, 32, 20], constant=True)
    product(c, ["b", 3, 8, 16], ["b", 3, 16, 16])
    product(c, ["b", 7], [7, 1000], constant=True)
    product(c, ["b", 31], [31, 3])
    return c.at(b=[1, 2, 3, 5, 8, 13, 33, 100, 0])


@case
def element_types():
    c = Case()
    for dtype in (np.float64, np.int32, np.int64):
        product(c, ["m", "k"], ["k", "n"], dtype=dtype)
        product(c, ["m", 33], [33, 21], dtype=dtype, constant=True)
    return c.each(m=[1, 6, 17], n=[1, 9, 40], k=[1, 4, 31])


@case
def behind_products():
    c = Case()
    for k, n in [(48, 64), (20, 37)]:
        bias, scale = c.weights(n), c.weights(n)
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Relu", c.op("Add", z, bias)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", c.op("Add", z, bias), c.input("b", "m", n)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Mul", c.op("Sigmoid", z), c.op("Tanh", c.op("Mul", z, scale))))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", z, c.input("m", n)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", z, c.input("b", 1, n)))
        product(c, ["m", k], [k, n], constant=True, behind=lambda z: c.op("Mul", z, c.op("Erf", z)))
    product(c, ["b", 2, "m", 16], ["b", 2, "n", 16], b_turned=True, behind=lambda z: c.op("Add", c.op("Mul", z, c.constant(np.float32(0.25))), c.input("b", 1, 1, "n")))
    product(c, ["b", "m", "n"], ["b", "n", 24], behind=lambda z: c.op("Add", z, c.input("b", "m", 24)))
    return c.each(b=[1, 3], m=[1, 2, 7, 16, 33], n=[1, 17, 40])


@case
def gemm():
    c = Case()
    for ta, tb in itertools.product([0, 1], [0, 1]):
        x, y, z = c.input(*(["k", "m"] if ta else ["m", "k"])), c.input(*(["n", "k"] if tb else ["k", "n"])), c.input("n")
        c.output(c.op("Gemm", x, y, z, transA=ta, transB=tb, alpha=0.5, beta=2.0))
        x = c.input(*([20, "m"] if ta else ["m", 20]))
        c.output(c.op("Gemm", x, c.weights(*([33, 20] if tb else [20, 33])), c.weights(33), transA=ta, transB=tb))
    return c.each(m=[1, 2, 9, 40], n=[1, 9, 33], k=[1, 5, 40])


@case
def equations():
    c = Case(17)
    for equation, *shapes in [
        ("bid,bjd->bij", ["b", "n", 8], ["b", "m", 8]),
        ("bsd,dhk->bshk", ["b", "n", 12], [12, 3, 4]),
        ("ibnd,jbnd->bnij", ["n", "b", 2, 8], ["m", "b", 2, 8]),
        ("bhij,bjhd->bihd", ["b", 2, "n", "m"], ["b", "m", 2, 5]),
        ("i,j->ij", ["n"], ["m"]),
        ("ij,ij", ["n", "m"], ["n", "m"]),
        ("bii->bi", ["b", "n", "n"]),
        ("ii", ["n", "n"]),
        ("iij,jk->ik", ["n", "n", "m"], ["m", 3]),
        ("ij->", ["n", "m"]),
        ("ba->ab", ["n", "m"]),
        ("...ij,...jk->...ik", ["b", 1, "n", "m"], [1, 3, "m", 4]),
        ("...i,...i->...", ["b", "n", 5], [1, "n", 5]),
        ("b...,b...->b...", ["b", "n"], ["b", "n"]),
        ("bi,bi->bi", ["b", "n"], [1, "n"]),
        ("abc,bd,dc->ad", ["b", "n", "m"], ["n", 6], [6, "m"]),
        ("bij,bjk,bkl->bil", ["b", "n", "m"], ["b", "m", "n"], ["b", "n", 2]),
        ("ij,kl->", ["n", 2], ["m", 3]),
        ("bqc,bchw->bqhw", ["b", "n", 6], ["b", 6, "m", "n"]),
    ]:
        c.output(c.op("Einsum", *[c.input(*shape) for shape in shapes], equation=equation))
    return c.each(b=[1, 3], n=[1, 2, 9, 0], m=[1, 7, 17])


@case
def equations_of_two_symbols():
    """Axes with names of their own that an equation makes equal."""
    c = Case(17)
    c.output(c.op("Einsum", c.input("b", "n", "d"), c.input("b2", "m", "d2"), equation="bid,bjd->bij"))
    c.output(c.op("Einsum", c.input("b", "n", 1), c.input("b2", "m", "d2"), equation="bid,bjd->bij"))
    c.output(c.op("Einsum", c.input("d", "d2"), equation="ii->i"))
    return c.at(b=[1, 3, 3], b2=[1, 3, 3], n=[2, 9, 1], m=[1, 4, 0], d=[5, 16, 1], d2=[5, 16, 1])


@case
def ellipses_that_broadcast():
    c = Case(17)
    for equation, *shapes in [
        ("...ij,...jk->...ik", ["b", "n", 3], ["b2", 3, "m"]),
        ("...ij,...jk->...ik", ["b", 2, "n", "m"], ["b2", 1, "m", 5]),
        ("...ij,...kj", ["b", "b2", "n", 3], ["b2", "b", "m", 3]),
        ("...ij,...jk,...k->...i", ["b", "n", 3], ["b2", 3, "m"], ["b", "m"]),
        ("...i,...i->...", ["b", "n"], ["b2", "n"]),
        ("b...i,...i->b...", ["n", "b", 4], ["b2", 4]),
        ("...i,...->i...", ["b", "n"], ["b2"]),
        ("bij,bjk->bik", [1, "n", 3], ["b", 3, "m"]),
    ]:
        c.output(c.op("Einsum", *[c.input(*shape) for shape in shapes], equation=equation))
    return c.at(b=[1, 3, 3, 1, 1, 7], b2=[3, 1, 3, 1, 4, 7], n=[2, 9, 1, 17], m=[1, 4, 7])
