"""The result of worker 0, and the bound below which the validation cross entropy has to fall.

Who knows nothing but how frequent each class is gets, at best, the entropy of the classes (2.30 for ten equal ones):
that is where a model stays which learns nothing from its examples. The bound is a share of it, stated by each model and
well above what its full number of steps reaches. Every model begins by guessing all classes alike, which gives
ln(classes). Of fewer steps less is asked: the way from there, times the square of their share of the full number.

So few steps that their bound is hardly below where the model began prove nothing, unless it has come further than that.
"""

import math

import numpy as np

from muster_check.events import tell


HARDLY = 0.98  # of the cross entropy before training


def entropy(labels):
    """Of the classes, in nats."""
    counts = np.unique(labels, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def bound_of(model, labels, steps):
    guessing = math.log(model.classes)
    progress = min(1.0, steps / model.steps)
    return guessing + (model.share * entropy(labels) - guessing) * progress**2


def judge(model, labels, steps, before, after, accuracy):
    """Tells the result; gives the exit code. A cross entropy of exactly 0 is as suspicious as one that is no number.
    Without a bound (None) nothing was asked of it."""
    bound = bound_of(model, labels, steps)
    if math.isfinite(after) and min(bound, after) > HARDLY * before:
        bound = None
    tell("result", crossEntropy=after, before=before, bound=bound, accuracy=accuracy)
    return 0 if 0 < after < (math.inf if bound is None else bound) else 1
