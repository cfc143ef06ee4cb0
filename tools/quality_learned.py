"""Learned ranking across sets: weights or trees (LambdaMART) learnt on all sets but one, tried on that one.

`braid rank train` measures within a set. Whether a model helps where it was not trained is asked here, with the
features that `braid features` writes, what src/rank/weights.cpp minimises, the parameters of
src/rank/lightgbm.cpp and the same library.
"""
import array
import ctypes
import itertools
import json
import math
import random

import numpy as np

import quality_auto

MOST_QUERIES = 60  # of a set: large ones must not outvote the others
STEPS = (0, 10, 20, 40, 70, 100, 150)
PENALTIES = (10, 3, 1, 0.3, 0.1, 0.03, 0.01)
MOST_LOST = 0.0025  # on any set that is asked: half of what the bar allows
LEAVES, PRIOR = 6, 10.0
RISING = {"fused", "fused_norm", "fused_z", "dense_score", "dense_norm", "dense_z", "dense_reciprocal_rank",
          "sparse_score", "sparse_norm", "sparse_z", "sparse_reciprocal_rank", "legs", "coverage", "idf_coverage",
          "title_coverage", "phrase", "content_score", "title_share", "opening", "window", "rest", "asked", "named",
          "naming", "kin", "alike"}
UNIT = ["fused_norm", "dense_norm", "dense_reciprocal_rank", "sparse_norm", "sparse_reciprocal_rank", "coverage",
        "idf_coverage", "title_coverage", "phrase", "early", "content_score", "title_share", "opening", "window",
        "rest", "asked", "named", "naming", "kin", "alike"]
FALLING = {"dense_gap", "sparse_gap"}
DOUBLE, INT, FLOAT = 1, 2, 0
ROW_MAJOR, RAW_SCORE = 1, 1


class Candidates:
    """The candidates of one query, in the order of the fusion."""

    def __init__(self, name):
        self.name, self.grades, self.rows, self.documents = name, [], [], []


def read_letor(path):
    """Names of the features, and the candidates of every query."""
    lists = []
    with open(path) as file:
        names = [field.split(":")[1] for field in next(file).split()[1:]]
        for line in file:
            if line.startswith("# qid:"):
                lists.append(Candidates(json.loads(line.split(" ", 2)[2])))
                continue
            numbers, named = line.split(" # ", 1)
            fields = numbers.split(" ")
            lists[-1].grades.append(int(fields[0]))
            lists[-1].rows.append(array.array("d", (float(field.split(":")[1]) for field in fields[2:])))
            lists[-1].documents.append(json.JSONDecoder().raw_decode(named)[0])
    return names, lists


class Learner:
    def __init__(self, library, names):
        self.library = ctypes.CDLL(library)
        self.library.LGBM_GetLastError.restype = ctypes.c_char_p
        self.names, self.fused = names, names.index("fused_norm")
        constraints = ",".join(str((n in RISING) - (n in FALLING)) for n in names)
        gains = ",".join(str(grade) for grade in range(31))
        self.parameters = (
            "objective=lambdarank metric=None lambdarank_truncation_level=20 verbosity=-1 num_threads=1 "
            "deterministic=true force_row_wise=true use_missing=false max_bin=255 feature_fraction=0.7 "
            "bagging_fraction=0.8 bagging_freq=1 monotone_constraints_method=advanced "
            f"monotone_constraints={constraints} label_gain={gains} num_leaves={LEAVES} learning_rate=0.05 "
            "min_data_in_leaf=50 lambda_l2=10 seed=1").encode()

    def check(self, code):
        if code != 0:
            raise RuntimeError(self.library.LGBM_GetLastError().decode())

    def matrix(self, lists):
        flat = array.array("d", itertools.chain.from_iterable(row for one in lists for row in one.rows))
        return (ctypes.c_double * len(flat)).from_buffer(flat), sum(len(one.rows) for one in lists)

    def train(self, lists):
        lists = [one for one in lists if 0 < sum(grade > 0 for grade in one.grades) < len(one.grades)]
        data, rows = self.matrix(lists)
        dataset, booster = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.LGBM_DatasetCreateFromMat(
            data, DOUBLE, rows, len(self.names), ROW_MAJOR, self.parameters, None, ctypes.byref(dataset)))
        labels = (ctypes.c_float * rows)(*(min(max(g, 0), 30) for one in lists for g in one.grades))
        groups = (ctypes.c_int32 * len(lists))(*(len(one.rows) for one in lists))
        start = (ctypes.c_double * rows)(*(PRIOR * row[self.fused] for one in lists for row in one.rows))
        for field, values, kind in ((b"label", labels, FLOAT), (b"group", groups, INT),
                                    (b"init_score", start, DOUBLE)):
            self.check(self.library.LGBM_DatasetSetField(dataset, field, values, len(values), kind))
        self.check(self.library.LGBM_BoosterCreate(dataset, self.parameters, ctypes.byref(booster)))
        finished = ctypes.c_int(0)
        for _ in range(STEPS[-1]):
            self.check(self.library.LGBM_BoosterUpdateOneIter(booster, ctypes.byref(finished)))
            if finished.value:
                break
        self.library.LGBM_DatasetFree(dataset)
        return booster

    def scores(self, booster, lists, trees):
        """Of each list's rows: the fused score and what so many trees add."""
        data, rows = self.matrix(lists)
        out, written = (ctypes.c_double * rows)(), ctypes.c_int64(0)
        if trees > 0:
            self.check(self.library.LGBM_BoosterPredictForMat(
                booster, data, DOUBLE, rows, len(self.names), ROW_MAJOR, RAW_SCORE, 0, trees, b"",
                ctypes.byref(written), out))
        values = iter(out)
        return [[next(values) + PRIOR * row[self.fused] for row in one.rows] for one in lists]


class Weights:
    """Weights of the features that are always from 0 to 1: the softmax of src/rank/weights.cpp, for some queries."""

    def __init__(self, names, lists):
        self.columns = [names.index(name) for name in UNIT]
        lists = [one for one in lists if 0 < sum(grade > 0 for grade in one.grades) < len(one.grades)]
        longest = max(len(one.rows) for one in lists)
        self.rows = np.zeros((len(lists), longest, len(UNIT)))
        self.grades = np.zeros((len(lists), longest))
        self.there = np.zeros((len(lists), longest), bool)
        for i, one in enumerate(lists):
            count = len(one.rows)
            self.rows[i, :count] = np.array(one.rows)[:, self.columns]
            self.grades[i, :count] = one.grades
            self.there[i, :count] = True
        squares = np.mean([self.rows[i, :len(one.rows)].var(0) for i, one in enumerate(lists)], 0)
        self.scale = np.sqrt(squares)
        self.scale[self.scale <= 1e-6] = np.inf
        self.rows /= self.scale
        self.start = np.zeros(len(UNIT))
        self.start[0] = PRIOR * self.scale[0]
        self.rising = np.array([name in RISING for name in UNIT])
        self.others = self.there & (self.grades == 0)
        self.shares = self.grades / self.grades.sum(1, keepdims=True)

    def loss(self, weights, penalty):
        scores = np.where(self.there, self.rows @ weights, -1e9)
        scores = np.exp(scores - scores.max(1, keepdims=True))
        others = (scores * self.others).sum(1, keepdims=True)
        own = np.maximum(scores, 1e-300)
        value = (self.shares * np.log1p(others / own)).sum() / len(scores)
        pushed = (self.shares / (own + others)).sum(1, keepdims=True)
        slopes = self.shares * (own / (own + others) - 1) + self.others * scores * pushed
        moved = weights - self.start
        gradient = np.tensordot(slopes, self.rows, 2) / len(scores) + 2 * penalty * moved
        return value + penalty * (moved * moved).sum(), gradient

    def learn(self, penalty, start=None):
        """Projected gradients with momentum."""
        at = self.start if start is None else start * np.where(np.isinf(self.scale), 0, self.scale)
        ahead, momentum, step = at, 1.0, 1.0
        value, _ = self.loss(at, penalty)
        for _ in range(300):
            here, gradient = self.loss(ahead, penalty)
            while True:
                found = ahead - step * gradient
                found = np.where(self.rising, np.maximum(found, 0), found)
                reached, _ = self.loss(found, penalty)
                moved = found - ahead
                if reached <= here + moved @ gradient + moved @ moved / (2 * step) + 1e-12 or step < 1e-9:
                    break
                step /= 2
            if reached > value and momentum > 1:
                ahead, momentum = at, 1.0
                continue
            grown = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
            ahead, momentum, step = found + (momentum - 1) / grown * (found - at), grown, step * 1.2
            gain, value, at = value - reached, min(value, reached), found
            if gain < 1e-7:
                break
        return at / self.scale

    def scores(self, weights, lists):
        return [(np.array(one.rows)[:, self.columns] @ weights).tolist() for one in lists]


def ideal_gain(gains):
    best = sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:10]
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))


def mean_ndcg(lists, scores, judged):
    """Over all judged queries; one without candidates counts 0."""
    total = 0.0
    for one, values in zip(lists, scores):
        gains = judged[one.name]
        ideal = ideal_gain(gains)
        order, seen = sorted(range(len(values)), key=lambda i: -values[i]), set()
        ranked = [one.documents[i] for i in order
                  if not (one.documents[i] in seen or seen.add(one.documents[i]))][:10]
        if ideal > 0:
            total += sum(max(0, gains.get(d, 0)) / math.log2(r + 2) for r, d in enumerate(ranked)) / ideal
    return total / len(judged)


class Ways:
    """Everything that is learnt from some queries: how each way scores others."""

    def __init__(self, learner, names, lists):
        self.learner, self.weights = learner, Weights(names, lists)
        self.found, start = {}, None
        for penalty in PENALTIES:
            start = self.found[penalty] = self.weights.learn(penalty, start)
        self.booster = learner.train(lists) if learner else None

    def scores(self, way, lists):
        kind, size = way
        if kind == "weights":
            return self.weights.scores(self.found[size], lists)
        if size == 0:
            return [list(range(0, -len(one.rows), -1)) for one in lists]
        return self.learner.scores(self.booster, lists, size)

    def free(self):
        if self.booster:
            self.learner.library.LGBM_BoosterFree(self.booster)


NONE = ("trees", 0)  # leaves the fused order as it is


def leave_one_out(letors, judgements, library):
    """Set -> of each kind nDCG@10 of a model that the other sets made, and how many trees or which penalty. That is
    chosen by sets that the model did not see either, and that are not the one it is tried on. Without a library
    there are no trees."""
    names, sets = None, {}
    for name, path in letors.items():
        names, sets[name] = read_letor(path)
    learner = Learner(library, names) if library else None
    kinds = {"weights": [NONE] + [("weights", penalty) for penalty in PENALTIES]}
    if learner:
        kinds["trees"] = [("trees", count) for count in STEPS]
    every = [NONE] + [way for ways in kinds.values() for way in ways if way != NONE]
    dice = random.Random(7)
    few = {name: lists if len(lists) <= MOST_QUERIES else dice.sample(lists, MOST_QUERIES)
           for name, lists in sets.items()}
    judged = {name: quality_auto.read_judgements(path) for name, path in judgements.items()}

    def value(ways, way, lists, name):
        asked = {one.name: judged[name][one.name] for one in lists}
        return mean_ndcg(lists, ways.scores(way, lists), asked)

    gains = {}  # (held, inner) -> gain of every way over none, on the inner set
    for a, b in itertools.combinations(sets, 2):
        ways = Ways(learner, names, [one for name in sets if name not in (a, b) for one in few[name]])
        for held, inner in ((a, b), (b, a)):
            values = {way: value(ways, way, few[inner], inner) for way in every}
            gains[held, inner] = {way: one - values[NONE] for way, one in values.items()}
        ways.free()
        print(f"quality: learnt without {a} and {b}", flush=True)
    found = {}
    for held in sets:
        others = [name for name in sets if name != held]
        # The mean over the others, if none of them loses: what is shipped must not hurt.
        gained = {way: [gains[held, inner][way] for inner in others] for way in every}
        worth = {way: sum(values) if min(values) >= -MOST_LOST else -1 for way, values in gained.items()}
        ways = Ways(learner, names, [one for name in others for one in few[name]])
        found[held] = {}
        for kind, candidates in kinds.items():
            way = max(candidates, key=worth.get)  # a tie goes to the first: what changes least
            found[held][kind] = (mean_ndcg(sets[held], ways.scores(way, sets[held]), judged[held]), *way)
        ways.free()
    return found
