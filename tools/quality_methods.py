"""Other ways to weigh the two legs, beside `auto`: each fitted on all sets but the one it is tried on.

A method is a function from a query to what moves the dense leg's weight, and a grid of constants. For each
set the constants are chosen on the others, by the same rule for every method (quality_auto.worth).
"""
import json
import math
import os
import random
import re

import quality_auto

WEIGHTS = [round(0.4 + 0.05 * i, 2) for i in range(12)]  # 0.4 ... 0.95
STEPS = (0.025, 0.05, 0.1)
PROBES, DISTRACTORS, SHORTEST = 200, 1000, 4  # sentences of a chunk that is asked about


def clamp(weight):
    return min(max(weight, quality_auto.LOWEST), quality_auto.HIGHEST)


def deviation(values):
    middle = sum(values) / len(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / len(values))


def nqc(raw):
    """Normalised query commitment of the first hundred (Shtok et al., 2012): their deviation over their mean."""
    best = sorted(raw, reverse=True)[:100]
    middle = sum(best) / len(best)
    return deviation(best) / abs(middle) if middle else 0.0


def wig(raw):
    """Weighted information gain (Zhou and Croft, 2007): the first five above the rest, in deviations."""
    best = sorted(raw, reverse=True)[:5]
    spread = deviation(raw)
    return (sum(best) / len(best) - sum(raw) / len(raw)) / spread if spread > 1e-12 else 0.0


def log_odds(cosine):
    share = min(max((1 + cosine) / 2, 1e-9), 1 - 1e-9)
    return math.log(share / (1 - share))


class Signals:
    """What the methods look at of one query."""

    def __init__(self, query):
        self.query = query
        dense, sparse = nqc(query.raw_dense), nqc(query.raw_sparse)
        self.nqc = math.log(dense / sparse) if dense > 0 and sparse > 0 else 0.0
        self.wig = wig(query.raw_dense) - wig(query.raw_sparse)
        self.odds = quality_auto.spread([log_odds(x) for x in query.raw_dense])


def ndcg(query, dense, weight):
    kept, query.dense = query.dense, dense
    value = query.ndcg(weight)
    query.dense = kept
    return value


def methods(signals, probes):
    """Name -> (grid of constants, function from set, signals and constants to nDCG@10)."""
    usual = {}
    for attribute in ("nqc", "wig"):
        values = [getattr(one, attribute) for many in signals.values() for one in many]
        usual[attribute] = sum(values) / len(values)

    def moved_by(attribute):
        def value(_, one, constants):
            base, step = constants
            return one.query.ndcg(clamp(base + step * (getattr(one, attribute) - usual[attribute])))
        return value

    def prior(name, constants):
        return clamp(constants[0] + constants[1] * probes[name])

    pairs = [(base, step) for base in WEIGHTS for step in STEPS]
    slopes = [(base, slope) for base in WEIGHTS for slope in (0.25, 0.5, 1.0)]
    found = {
        "fixed sum": ([(weight,) for weight in WEIGHTS], lambda _, one, c: one.query.ndcg(c[0])),
        "balanced log-odds": ([(weight,) for weight in WEIGHTS],
                              lambda _, one, c: ndcg(one.query, one.odds, c[0])),
        "NQC": (pairs, moved_by("nqc")),
        "WIG": (pairs, moved_by("wig")),
    }
    if probes:
        found["probe prior"] = (slopes, lambda name, one, c: one.query.ndcg(prior(name, c)))

        def shifted(name, one, constants):
            query = one.query
            shift = -0.3 * (query.agreement - quality_auto.USUAL_AGREEMENT)
            shift -= 0.2 * (query.lead - quality_auto.USUAL_LEAD)
            return query.ndcg(clamp(prior(name, constants) + shift))

        found["probe prior + shift"] = (slopes, shifted)
    return found


def compare(sets, probes):
    """Method -> set -> (nDCG@10, constants that the others chose)."""
    signals = {name: [Signals(query) for query in queries] for name, queries in sets.items()}
    legs = quality_auto.better_legs(sets)
    results = {}
    for method, (grid, value) in methods(signals, probes).items():
        values = {constants: {name: quality_auto.mean([value(name, one, constants) for one in many])
                              for name, many in signals.items()} for constants in grid}
        results[method] = {}
        for held in sets:
            others = [name for name in sets if name != held]
            best = max(grid, key=lambda c: quality_auto.worth(values[c], legs, others))
            results[method][held] = (values[best][held], best)
    return results


def sentences(text):
    return [piece for piece in re.split(r"(?<=[.!?])\s+", text) if len(piece.split()) >= 4]


def make_probes(lines, folder):
    """Known-item questions from the collection's own chunks: a sentence taken out of a chunk, the chunk without
    it, and other chunks around. Of code, which has no sentences, a line stands for one. Writes corpus and queries;
    gives the kinds."""
    dice = random.Random(7)
    chunks = [json.loads(line) for line in lines]
    dice.shuffle(chunks)
    corpus, queries = [], []
    for chunk in chunks:
        parts = sentences(chunk["text"])
        if len(parts) < SHORTEST:
            parts = [line for line in chunk["text"].split("\n") if len(line.split()) >= 4]
        title = chunk.get("title") or ""
        if len(queries) < 3 * PROBES and len(parts) >= SHORTEST:
            place = dice.randrange(1, len(parts))
            rest = " ".join(part for i, part in enumerate(parts) if i not in (0, place))
            corpus.append({"_id": chunk["_id"], "text": rest})
            queries.append(("first", chunk["_id"], parts[0]))
            queries.append(("sentence", chunk["_id"], parts[place]))
            if title and title not in rest:
                queries.append(("title", chunk["_id"], title))
        elif len(corpus) < PROBES + DISTRACTORS:
            corpus.append({"_id": chunk["_id"], "text": chunk["text"]})
        elif len(queries) >= 3 * PROBES:
            break
    with open(os.path.join(folder, "probe-corpus.jsonl"), "w") as out:
        out.writelines(json.dumps(chunk) + "\n" for chunk in corpus[:PROBES + DISTRACTORS])
    with open(os.path.join(folder, "probe-queries.jsonl"), "w") as out:
        out.writelines(json.dumps({"_id": f"{kind}|{target}", "text": text[:2000]}) + "\n"
                       for kind, target, text in queries)


def probe_gap(dense_run, sparse_run):
    """Mean reciprocal rank of the dense leg less that of the sparse one, each kind of question counting the same;
    and by kind both."""
    kinds = {}
    for place, run in enumerate((dense_run, sparse_run)):
        for name, ranked in quality_auto.read_leg(run).items():
            kind, target = name.split("|", 1)
            order = list(ranked)
            value = 1.0 / (order.index(target) + 1) if target in ranked else 0.0
            kinds.setdefault(kind, ([], []))[place].append(value)
    means = {kind: tuple(quality_auto.mean(values) if values else 0.0 for values in legs)
             for kind, legs in kinds.items()}
    gap = quality_auto.mean([dense - sparse for dense, sparse in means.values()]) if means else 0.0
    return gap, means
