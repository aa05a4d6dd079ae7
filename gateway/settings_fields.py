"""What the fields of settings are written with: description and example, and types that several of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from gateway import settings_values as values

AbsolutePath = Annotated[Path, AfterValidator(values.absolute)]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(values.split_list)]


def setting(description: str, example: str, **more: Any) -> Any:
    """Return a field with its description and an example, from which docs/settings.md and .env.example are made."""
    return Field(description=description, examples=[example], **more)
