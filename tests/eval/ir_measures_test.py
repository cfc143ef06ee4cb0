"""Compares our measures with those of the PyPI package ir-measures on random runs.

    python ir_measures_test.py PATH_OF_measure_cases [SEED [CASES]]

Ends with 77, which ctest shows as skipped, if ir-measures is not installed.
"""

import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import ir_measures
except ImportError as error:
    print(f"skipped: {error} (pip install ir-measures)")
    sys.exit(77)

MEASURES = (
    "nDCG,nDCG@1,nDCG@5,nDCG@10,nDCG@1000,AP,AP@5,AP@100,AP(rel=2),AP(rel=3)@7,"
    "RR,RR@1,RR@3,RR@10,RR(rel=2),RR(rel=2)@10,P@1,P@5,P@20,P(rel=2)@10,P(rel=4)@5,"
    "R@1,R@5,R@100,R(rel=2)@5,Success@1,Success@5,Success(rel=3)@10,Judged,Judged@1,Judged@10"
).split(",")
TOLERANCE = 1e-9
BATCH = 50


def random_score(rng, style):
    if style == "coarse":  # many ties
        return float(rng.randrange(6))
    if style == "close":  # ties in single precision that are none in double precision
        return 1.0 + rng.randrange(4) * rng.choice([1e-9, 1e-7, 1e-5])
    if style == "fused":  # sums of reciprocal ranks
        return sum(1.0 / (60 + rng.randrange(1, 30)) for _ in range(2))
    return rng.uniform(-1e3, 1e3)


def random_case(rng):
    """Judgements {query: {document: relevance}} and a run {query: {document: score}}."""
    alphabet = rng.choice(["ab", "0123456789", "aZé鰯𝒳-_:/.", "dD"])
    documents = sorted({"".join(rng.choices(alphabet, k=rng.randint(1, 6))) for _ in range(60)})
    grades = rng.choice([[0, 1], [1], [0, 1, 2, 3], [-1, 0, 1, 2, 3], [-2, -1, 0, 3]])
    style = rng.choice(["coarse", "close", "fused", "any"])
    queries = [f"q{i}" for i in range(rng.randint(1, 12))]
    qrels, run = {}, {}
    for query in queries:
        if rng.random() < 0.9:
            judged = rng.sample(documents, rng.randint(1, min(25, len(documents))))
            qrels[query] = {document: rng.choice(grades) for document in judged}
            # trec_eval may loop for ever if all judgements of a query are negative.
            qrels[query][judged[0]] = max(qrels[query][judged[0]], 0)
        if rng.random() < 0.85:
            hits = rng.sample(documents, rng.randint(1, len(documents)))
            run[query] = {document: random_score(rng, style) for document in hits}
    qrels = qrels or {"q0": {documents[0]: 1}}
    return qrels, run


def write_case(rng, folder, qrels, run):
    """Our files; returns the same judgements and run in the form that ir-measures reads."""
    judgements = [(q, d, r) for q, documents in qrels.items() for d, r in documents.items()]
    hits = [(q, d, s) for q, documents in run.items() for d, s in documents.items()]
    rng.shuffle(judgements)
    rng.shuffle(hits)
    trec_qrels = "".join(f"{q} 0 {d} {r}\n" for q, d, r in judgements)
    trec_run = "".join(f"{q} Q0 {d} {i} {s!r} tag\n" for i, (q, d, s) in enumerate(hits))
    ours = trec_qrels
    if rng.random() < 0.5:
        ours = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{r}\n" for q, d, r in judgements)
    separator, end = rng.choice([" ", "\t"]), rng.choice(["\n", "\r\n"])
    folder.mkdir()
    (folder / "qrels").write_bytes(ours.replace("\n", end).encode())
    (folder / "run").write_bytes(trec_run.replace(" ", separator).replace("\n", end).encode())
    return trec_qrels, trec_run


def expected_values(trec_qrels, trec_run):
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    # A dictionary, because ir-measures takes a text without a line end for a file name.
    run = {}
    for hit in ir_measures.read_trec_run(trec_run + "\n"):
        run.setdefault(hit.query_id, {})[hit.doc_id] = hit.score
    judgements = list(ir_measures.read_trec_qrels(trec_qrels))
    means, per_query = ir_measures.calc(measures, judgements, run)
    return (
        {str(measure): value for measure, value in means.items()},
        {(metric.query_id, str(metric.measure)): metric.value for metric in per_query},
    )


def differences(ours, means, per_query):
    found = ours["runs"][0]["measures"]
    if set(found) != set(means):
        yield f"measures {sorted(found)} instead of {sorted(means)}"
    for name, value in means.items():
        if not math.isclose(found.get(name, math.nan), value, rel_tol=0, abs_tol=TOLERANCE):
            yield f"mean {name}: {found.get(name)} instead of {value}"
    rows = {row["query"]: row["values"] for row in ours["per_query"]}
    if set(rows) != {query for query, _ in per_query}:
        yield f"queries {sorted(rows)}"
    for (query, name), value in per_query.items():
        got = rows.get(query, {}).get(name, [math.nan])[0]
        if not math.isclose(got, value, rel_tol=0, abs_tol=TOLERANCE):
            yield f"{query} {name}: {got} instead of {value}"


def check_batch(tool, seeds, scratch):
    expected, folders = [], []
    for seed in seeds:
        rng = random.Random(seed)
        folders.append(scratch / str(seed))
        expected.append(expected_values(*write_case(rng, folders[-1], *random_case(rng))))
    answer = subprocess.run(
        [tool, ",".join(MEASURES), *map(str, folders)], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        return [f"{tool} failed: {answer.stderr}"]
    lines = answer.stdout.splitlines()
    if len(lines) != len(folders):
        return [f"{len(lines)} answers to {len(folders)} cases"]
    return [
        f"seed {seed}: {difference}"
        for seed, line, (means, per_query) in zip(seeds, lines, expected)
        for difference in differences(json.loads(line), means, per_query)
    ]


def main():
    tool = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    print(f"ir-measures {ir_measures.__version__}, seeds {first} to {first + cases - 1}")
    failures = []
    for start in range(first, first + cases, BATCH):
        seeds = range(start, min(start + BATCH, first + cases))
        with tempfile.TemporaryDirectory() as scratch:
            failures += check_batch(tool, seeds, pathlib.Path(scratch))
    for failure in failures[:20]:
        print(failure)
    print(f"{len(failures)} differences in {cases} cases of {len(MEASURES)} measures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
