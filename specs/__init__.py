"""What a verifier is asked to check: templates, their parameters and their wording, read from YAML."""

from .documents import Document, DocumentError, Problem, open_document, read_document
from .loading import load_templates, read_template
from .probes import Probe, load_probes
from .schemas import ROOM
from .templates import ParameterError, Template, UnknownTemplate, find_template

__all__ = [
    "ROOM",
    "Document",
    "DocumentError",
    "ParameterError",
    "Probe",
    "Problem",
    "Template",
    "UnknownTemplate",
    "find_template",
    "load_probes",
    "load_templates",
    "open_document",
    "read_document",
    "read_template",
]
