"""Learned ranking across sets: LambdaMART trained on all sets but one, tried on that one.

`braid rank train` measures within a set. Whether a model helps where it was not trained is asked here, with the
features that `braid features` writes, the parameters of src/rank/lightgbm.cpp and the same library.
"""
import array
import ctypes
import itertools
import json
import math
import random

import quality_auto

MOST_QUERIES = 150  # of a set: large ones must not outvote the others
STEPS = (0, 10, 20, 40, 70, 100, 150)
LEAVES, PRIOR = 6, 10.0
RISING = {"fused", "fused_norm", "fused_z", "dense_score", "dense_norm", "dense_z", "dense_reciprocal_rank",
          "sparse_score", "sparse_norm", "sparse_z", "sparse_reciprocal_rank", "legs", "coverage", "idf_coverage",
          "title_coverage", "phrase"}
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


def leave_one_out(letors, judgements, library):
    """Set -> (nDCG@10 of a model that the other sets made, trees). How many trees is chosen by sets that the
    model did not see either, and that are not the one it is tried on."""
    names, sets = None, {}
    for name, path in letors.items():
        names, sets[name] = read_letor(path)
    learner = Learner(library, names)
    dice = random.Random(7)
    few = {name: lists if len(lists) <= MOST_QUERIES else dice.sample(lists, MOST_QUERIES)
           for name, lists in sets.items()}
    judged = {name: quality_auto.read_judgements(path) for name, path in judgements.items()}

    def gain(booster, lists, trees, name):
        asked = {one.name: judged[name][one.name] for one in lists}
        return mean_ndcg(lists, learner.scores(booster, lists, trees), asked)

    gains = {}  # (held, inner) -> gain of every step over none, on the inner set
    for a, b in itertools.combinations(sets, 2):
        booster = learner.train([one for name in sets if name not in (a, b) for one in few[name]])
        for held, inner in ((a, b), (b, a)):
            values = [gain(booster, few[inner], trees, inner) for trees in STEPS]
            gains[held, inner] = [value - values[0] for value in values]
        learner.library.LGBM_BoosterFree(booster)
    found = {}
    for held in sets:
        others = [name for name in sets if name != held]
        # The mean over the others, a loss counting twice: what is shipped must not hurt.
        worth = [sum(g if g > 0 else 2 * g for g in (gains[held, inner][step] for inner in others))
                 for step in range(len(STEPS))]
        trees = STEPS[max(range(len(STEPS)), key=lambda step: worth[step])]
        booster = learner.train([one for name in others for one in few[name]])
        scores = learner.scores(booster, sets[held], trees)
        found[held] = (mean_ndcg(sets[held], scores, judged[held]), trees)
        learner.library.LGBM_BoosterFree(booster)
    return found
