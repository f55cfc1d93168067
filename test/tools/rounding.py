"""How far a sum of float32 may be from the exact one, whatever the seed: bounds that follow from the number of additions and from the terms, not from what was seen."""
import numpy as np

UNIT = 2.0**-24  # the largest relative error of one rounding of float32

# Each element's error is that of a martingale of `additions` steps, each at most UNIT times a partial sum. CERTAIN standard deviations are exceeded with a probability of
# 2 exp(-CERTAIN^2 / 2) = 3e-14 (Hoeffding's inequality), and so are those that a partial sum of terms of either sign has.
CERTAIN = 8


def of_sum(additions, absolute, squares, result):
    """The bound for elements whose terms have this sum of absolute values and this sum of squares, in any order of additions: the least of the worst case, in which all roundings
    add up (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), and of what independent roundings exceed in no run (Higham and Mary, A New Approach to Probabilistic
    Rounding Error Analysis, 2019)."""
    worst = additions * UNIT * absolute
    likely = CERTAIN * UNIT * np.sqrt(additions) * (np.abs(result) + CERTAIN * np.sqrt(squares))
    return np.minimum(worst, likely)
