"""The fusion "auto" once more, slowly, to fit its constants on some judged sets and try them on another.

Reads runs of both legs to their ends, so that every chunk of the union has its true score in both.
"""
import heapq
import itertools
import math

LOWEST, HIGHEST = 0.2, 0.95
USUAL_AGREEMENT, USUAL_LEAD = 0.25, 0.42
# base, coefficient of agreement, coefficient of lead
GRID = list(itertools.product((0.6, 0.65, 0.7), (-0.15, -0.3), (0.0, -0.2, -0.4)))


class Query:
    """What one query needs to be fused by any constants."""

    def __init__(self, name, ids, dense, sparse, gains):
        self.name, self.ids = name, ids
        self.raw_dense, self.raw_sparse = dense, sparse
        self.agreement = correlation(dense, sparse)
        best = sorted(sparse, reverse=True)[:10]
        self.lead = (best[0] - best[-1]) / best[0] if best and best[0] > 0 else 0.0
        self.dense, self.sparse = spread(dense), spread(sparse)
        self.gains = [max(0, gains.get(chunk, 0)) for chunk in ids]
        ideal = sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:10]
        self.ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))

    def weight(self, constants):
        base, agreement, lead = constants
        weight = base + agreement * (self.agreement - USUAL_AGREEMENT)
        weight += lead * (self.lead - USUAL_LEAD)
        return min(max(weight, LOWEST), HIGHEST)

    def ranking(self, weight):
        scores = [weight * a + (1 - weight) * b for a, b in zip(self.dense, self.sparse)]
        return sorted(range(len(scores)), key=lambda i: (-scores[i], self.ids[i])), scores

    def ndcg(self, weight):
        if self.ideal == 0:
            return 0.0
        scores = [weight * a + (1 - weight) * b for a, b in zip(self.dense, self.sparse)]
        least = heapq.nlargest(10, scores)[-1]
        best = sorted((i for i, score in enumerate(scores) if score >= least),
                      key=lambda i: (-scores[i], self.ids[i]))
        return sum(self.gains[i] / math.log2(rank + 2) for rank, i in enumerate(best[:10])) / self.ideal


def spread(values):
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    squares_a = sum((x - mean_a) ** 2 for x in a)
    squares_b = sum((y - mean_b) ** 2 for y in b)
    both = math.sqrt(squares_a) * math.sqrt(squares_b)
    return sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)) / both if both > 1e-12 else 0.0


def read_leg(path):
    """Query -> chunk -> score, best first."""
    lists = {}
    with open(path) as file:
        for line in file:
            fields = line.split()
            lists.setdefault(fields[0], {})[fields[2]] = float(fields[4])
    return lists


def read_judgements(path):
    judged = {}
    with open(path) as file:
        next(file)
        for line in file:
            query, chunk, grade = line.rstrip("\n").split("\t")
            judged.setdefault(query, {})[chunk] = int(grade)
    return judged


def read_set(dense_run, sparse_run, judgements, depth):
    dense, sparse = read_leg(dense_run), read_leg(sparse_run)
    queries = []
    for name, gains in read_judgements(judgements).items():
        if name not in dense:
            continue
        words = sparse.get(name, {})
        union = sorted(set(itertools.islice(dense[name], depth)) |
                       set(itertools.islice(words, depth)))
        queries.append(Query(name, union, [dense[name][chunk] for chunk in union],
                             [words.get(chunk, 0.0) for chunk in union], gains))
    return queries


def mean(values):
    return sum(values) / len(values)


def better_legs(sets):
    return {name: max(mean([query.ndcg(1.0) for query in queries]),
                      mean([query.ndcg(0.0) for query in queries])) for name, queries in sets.items()}


def worth(found, legs, names):
    """What constants are chosen by: the mean, with a penalty for being more than 0.005 below the better leg of a
    set."""
    worst = min(found[name] - legs[name] + 0.005 for name in names)
    return mean([found[name] for name in names]) + 0.5 * min(0.0, worst)


def leave_one_out(sets):
    """For each set the constants that are best on the others."""
    legs = better_legs(sets)
    values = {constants: {name: mean([query.ndcg(query.weight(constants)) for query in queries])
                          for name, queries in sets.items()} for constants in GRID}
    return {held: max(GRID, key=lambda c: worth(values[c], legs, [n for n in sets if n != held]))
            for held in sets}


def write_run(queries, constants, path):
    with open(path, "w") as out:
        for query in queries:
            order, scores = query.ranking(query.weight(constants))
            for rank, i in enumerate(order[:200]):
                out.write(f"{query.name} Q0 {query.ids[i]} {rank + 1} {scores[i]!r} auto-held-out\n")
