"""braid for Haystack: a document store and a hybrid retriever."""

from haystack_braid.document_store import BraidDocumentStore
from haystack_braid.filters import to_filter
from haystack_braid.retriever import BraidRetriever

__all__ = ["BraidDocumentStore", "BraidRetriever", "to_filter"]
