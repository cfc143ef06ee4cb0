"""From Chroma beside rank-bm25 to one collection: `migrate_from_chroma.py [CHROMA_DIRECTORY NAME]`.

Ids, texts, metadata and embeddings are taken as they are; the words need no index of their own any
more. Without arguments, a small export of the same form is used."""

import sys

import numpy

import braid

EXPORT = {  # what chromadb's collection.get(include=[...]) gives
    "ids": ["a", "b", "c"],
    "documents": ["Red foxes hunt at dusk.", "Owls hunt at night.", "Carp live in ponds."],
    "metadatas": [{"legs": 4}, {"legs": 2}, None],
    "embeddings": [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]],
}


def read_chroma(directory: str, name: str) -> dict:
    import chromadb

    collection = chromadb.PersistentClient(directory).get_collection(name)
    return collection.get(include=["documents", "metadatas", "embeddings"])


def migrate(export: dict, collection: braid.Collection, batch: int = 1000) -> int:
    vectors = numpy.asarray(export["embeddings"], dtype=numpy.float32)
    for start in range(0, len(export["ids"]), batch):
        part = slice(start, start + batch)
        chunks = [
            {"chunk_id": id, "content": text or "", "metadata": metadata or {}}
            for id, text, metadata in zip(
                export["ids"][part], export["documents"][part], export["metadatas"][part]
            )
        ]
        collection.add(chunks, vectors=vectors[part])
    return collection.count()


def main(arguments: list[str]) -> None:
    export = read_chroma(*arguments) if arguments else EXPORT
    with braid.open(None if not arguments else "./braid-data") as db:
        print(migrate(export, db["migrated"]), "chunks")
        # Before: two searches and a fusion by hand. Now one, with Chroma's filters as they were.
        question = numpy.asarray(export["embeddings"][0], dtype=numpy.float32)
        print(db["migrated"].retrieve("foxes", query_embedding=question, filter={"legs": {"$gt": 2}}))


if __name__ == "__main__":
    main(sys.argv[1:])
