"""What students read about each misconception: one data file, keyed by id."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from grader.errors import RubricError

OWN_FILE = Path(__file__).with_name("lesson") / "misconceptions.yaml"
# The C parser takes a tenth of the time, where PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class MisconceptionText(BaseModel):
    """Title for lists, message for students."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    title: Annotated[str, Field(min_length=1, max_length=100)]
    message: Annotated[str, Field(min_length=1, max_length=1_000)]


_TEXTS: TypeAdapter[dict[str, MisconceptionText]] = TypeAdapter(dict[str, MisconceptionText])


@functools.cache
def known_texts() -> dict[str, MisconceptionText]:
    """The grader's own texts, for every misconception that it can name."""
    return _load(OWN_FILE)


def own_texts(path: Path) -> dict[str, MisconceptionText]:
    """An instructor's texts for some misconceptions.

    Raises:
        RubricError: if the file cannot be read, is not in the form of the grader's own, or has
            a text for a misconception that there is not.
    """
    texts = _load(path)
    unknown = sorted(set(texts) - set(known_texts()))
    if unknown:
        problems = [f"no such misconception: {name}" for name in unknown]
        raise RubricError(str(path), problems)
    return texts


def _load(path: Path) -> dict[str, MisconceptionText]:
    try:
        return _TEXTS.validate_python(yaml.load(path.read_bytes(), Loader=LOADER))  # noqa: S506
    except OSError as error:
        raise RubricError(str(path), [f"cannot be read: {error.strerror}"]) from error
    except yaml.YAMLError as error:
        raise RubricError(str(path), [f"is not valid YAML: {error}"]) from error
    except ValidationError as error:
        found = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise RubricError(str(path), found) from error
    except ValueError as error:  # a date or number that is none
        raise RubricError(str(path), [f"is not valid YAML: {error}"]) from error
