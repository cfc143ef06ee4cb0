"""Scores of the package rank-bm25, for the test that compares braid's okapi variant with it.

Reads one JSON object per line: {"corpus": [[word, ...], ...], "query": [word, ...], "k1", "b",
"epsilon"}; writes the scores of each on a line. Exits with 77 if the package is not there.
"""
import json
import sys

try:
    from rank_bm25 import BM25Okapi
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)

for line in sys.stdin:
    case = json.loads(line)
    bm25 = BM25Okapi(case["corpus"], k1=case["k1"], b=case["b"], epsilon=case["epsilon"])
    print(" ".join(repr(float(score)) for score in bm25.get_scores(case["query"])))
