"""What a verifier is asked to check: templates, their parameters and their wording, read from YAML."""

from .documents import Document, DocumentError, Problem, open_document, read_document
from .draws import NoDraw, draw_params
from .flags import Flag, load_flags
from .lists import load_texts, load_words
from .loading import load_templates, read_template
from .probes import Probe, load_probes
from .schemas import ROOM
from .templates import ParameterError, Template, UnknownTemplate, find_template
from .transforms import Transform, load_synonyms, load_transforms

__all__ = [
    "ROOM",
    "Document",
    "DocumentError",
    "Flag",
    "NoDraw",
    "ParameterError",
    "Probe",
    "Problem",
    "Template",
    "Transform",
    "UnknownTemplate",
    "draw_params",
    "find_template",
    "load_flags",
    "load_probes",
    "load_synonyms",
    "load_templates",
    "load_texts",
    "load_transforms",
    "load_words",
    "open_document",
    "read_document",
    "read_template",
]
