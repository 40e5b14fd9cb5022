"""What a verifier is asked to check: templates, their parameters and their wording, read from YAML."""

from .documents import Document, DocumentError, Problem, open_document, read_document

__all__ = ["Document", "DocumentError", "Problem", "open_document", "read_document"]
