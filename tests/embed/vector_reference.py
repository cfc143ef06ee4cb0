"""braid's vectors against Python's onnxruntime: vector_reference.py PROBE MODELS"""

import os
import pathlib
import random
import sys

import reference
import texts as sources

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
np, onnxruntime, tokenizers = reference.need("numpy", "onnxruntime", "tokenizers")

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
LEAST_COSINE = 0.99999


def reference_vectors(directory, texts, pooling):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(directory / "model.onnx"), options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=256)
    names = [port.name for port in session.get_inputs()]
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids),
                  "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {name: values[name] for name in names})[0][0]
        vector = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
        yield vector / np.linalg.norm(vector)


def compare(probe, models, name, role, prefix, pooling, texts):
    ours = reference.ask(probe, "vectors", str(models), name, role, texts=texts, element="f")
    theirs = reference_vectors(models / name, [prefix + text for text in texts], pooling)
    cosines = [float(np.dot(a, b) / np.linalg.norm(a)) for a, b in zip(ours, theirs)]
    print(f"{name}, {role}: {len(texts)} texts, cosine at least {min(cosines):.9f}")
    return min(cosines) >= LEAST_COSINE


def main():
    probe, models = sys.argv[1], pathlib.Path(sys.argv[2])
    for name in ("bge-small-en-v1.5", "minilm"):
        if not (models / name / "model.onnx").exists():
            reference.skip(f"no {models / name} (run tools/fetch_models)")
    if onnxruntime.__version__ != "1.31.1":
        reference.skip(f"onnxruntime is {onnxruntime.__version__}, the vectors are those of 1.31.1")
    rng = random.Random(2)
    texts = [sources.english(rng, rng.choice([3, 5, 8, 20, 20, 60, 150])) for _ in range(170)]
    texts += [sources.unicode_text(rng, 30) for _ in range(20)] + sources.HAND_MADE[-10:]
    good = [
        compare(probe, models, "bge-small-en-v1.5", "passage", "", "cls", texts),
        compare(probe, models, "bge-small-en-v1.5", "query", QUERY_PREFIX, "cls", texts[:40]),
        compare(probe, models, "minilm", "passage", "", "mean", texts),
    ]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
