"""braid's WordPiece against Hugging Face `tokenizers`: tokenizer_reference.py PROBE MODELS"""

import pathlib
import sys

import reference
import texts as sources

(tokenizers,) = reference.need("tokenizers")


def compare(probe, path, texts):
    hugging_face = tokenizers.Tokenizer.from_file(str(path))
    hugging_face.no_truncation()
    hugging_face.no_padding()
    ours = reference.ask(probe, "tokens", str(path), texts=texts, element="i")
    theirs = [encoding.ids for encoding in hugging_face.encode_batch(texts)]
    wrong = [i for i in range(len(texts)) if ours[i] != theirs[i]]
    print(f"{path.parent.name}: {len(texts)} texts, {len(wrong)} differ")
    for i in wrong[:5]:
        print(f"  {texts[i][:80]!r}\n    braid        {ours[i][:30]}\n    tokenizers   {theirs[i][:30]}")
    return len(wrong)


def main():
    probe, models = sys.argv[1], pathlib.Path(sys.argv[2])
    paths = [models / name / "tokenizer.json" for name in ("bge-small-en-v1.5", "minilm")]
    for path in paths:
        if not path.exists():
            reference.skip(f"no {path} (run tools/fetch_models)")
    texts = sources.varied(8000)
    wrong = sum(compare(probe, path, texts) for path in paths)
    wrong += compare(probe, paths[0], sources.every_code_point())
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
