"""Puts the assignment into the wheel; an editable install uses the one in the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AssignmentHook(BuildHookInterface[Any]):
    """Adds what pyproject.toml lists under the hook's `assignment` to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to add.

        Args:
            version: `standard` or `editable`.
            build_data: of hatchling, which reads `force_include` from it.
        """
        if version != "editable":
            here = Path(self.root)
            listed = self.config["assignment"].items()
            build_data["force_include"] |= {str(here / source): place for source, place in listed}
