"""braid for LlamaIndex: a hybrid vector store."""

from llama_index_braid.vector_store import BraidVectorStore, to_filter

__all__ = ["BraidVectorStore", "to_filter"]
