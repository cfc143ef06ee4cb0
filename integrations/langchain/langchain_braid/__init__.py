"""braid for LangChain: a hybrid vector store and a retriever."""

from langchain_braid.retriever import BraidRetriever
from langchain_braid.vector_store import BraidVectorStore

__all__ = ["BraidRetriever", "BraidVectorStore"]
