"""The hooks that the reports offer to other plugins."""

from __future__ import annotations

from collections.abc import Mapping

import pytest


@pytest.hookspec
def pytest_assay_run_header(config: pytest.Config) -> Mapping[str, object]:  # type: ignore[empty-body]
    """Return what the header of a run should say beside the versions, as JSON: pins and their digests, the seed.

    Called once, on the controller, before the first row, and only in runs that record rows or were given
    ``--report-dir``::

        def pytest_assay_run_header(config):
            return {"seed": config.getoption("seed")}
    """
