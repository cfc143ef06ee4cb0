"""Which way of searching is best for one's own questions? Measured, with intervals."""

import os

import braid

CHUNKS = [
    {"chunk_id": "fox", "content": "Red foxes hunt at dusk and sleep by day."},
    {"chunk_id": "owl", "content": "Owls hunt at night; their flight is silent."},
    {"chunk_id": "bee", "content": "Bees gather nectar while the sun shines."},
    {"chunk_id": "err", "content": "Error E-1042 means that the pump has no water."},
]
QUESTIONS = {
    "q1": "when do foxes hunt?",
    "q2": "which bird flies without a sound?",
    "q3": "what does E-1042 mean?",
}
RELEVANT = {"q1": {"fox": 1}, "q2": {"owl": 1}, "q3": {"err": 1}}


def main() -> None:
    embedder = os.environ.get("BRAID_EMBEDDER", "bge-small-en-v1.5")
    with braid.open(None, embedder=embedder) as db:
        db["notes"].add(CHUNKS)
        strategies = ["sparse"] if embedder == "none" else ["sparse", "dense", "hybrid"]
        runs = {}
        for strategy in strategies:
            answers = db["notes"].retrieve_batch(QUESTIONS.values(), strategy=strategy)
            runs[strategy] = {
                question: [(hit.chunk_id, hit.score) for hit in answer]
                for question, answer in zip(QUESTIONS, answers)
            }
        result = braid.evaluate(RELEVANT, runs, measures=["RR@10", "nDCG@10"], resamples=1000)
        for run in result["runs"]:
            low, high = run["intervals"]["nDCG@10"]
            print(f"{run['name']:8} nDCG@10 {run['measures']['nDCG@10']:.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
