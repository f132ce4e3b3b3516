"""JSON Schema of file models for editors. Pure: models in, a schema out."""

from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from scheduler.instants import format_duration


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """JSON Schema (2020-12) of what may be written for a model; defaults are shown as a file would write them."""
    return {"$schema": GenerateJsonSchema.schema_dialect, **model.model_json_schema(schema_generator=_AsWritten)}


class _AsWritten(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        # Pydantic would show PT1H, which a file may not hold.
        if isinstance(dft, timedelta):
            return format_duration(dft)
        if isinstance(dft, BaseModel):
            return {name: self.encode_default(getattr(dft, name)) for name in sorted(dft.model_fields_set)}
        return super().encode_default(dft)
