"""The sources of an index, as its record has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chapterverse.errors import AstRagValidationError
from chapterverse.library.offers import Offers, SourceSpec
from chapterverse.library.terms import full_address, same_place
from chapterverse.types import IndexRecord, SourceRecord

_NAMED = 3  # files that are named where patterns would drop some


def specs_of(record: IndexRecord) -> list[SourceSpec]:
    return [SourceSpec.from_dict(data) for data in record.source_config.get("sources", [])]


def as_recorded(specs: Sequence[SourceSpec]) -> dict[str, Any]:
    """Sources as a record has them."""
    return {"sources": [spec.as_dict() for spec in specs]}


def sources_at(record: IndexRecord, address: str | Path) -> list[SourceSpec]:
    """The sources of an index at an address, however it is written."""
    return [spec for spec in specs_of(record) if same_place(spec.address, address)]


def source_named(record: IndexRecord, address: str | Path) -> SourceSpec:
    """The source of an index that an address names."""
    written = str(full_address(address))
    for spec in sorted(sources_at(record, address), key=lambda spec: spec.address != written):
        return spec
    there = ", ".join(repr(spec.address) for spec in specs_of(record))
    raise AstRagValidationError(f"The index {record.id!r} has no source {str(address)!r}. Its sources are {there}.")


def check_choice(record: IndexRecord, source: SourceSpec, held: Sequence[SourceRecord], offers: Offers) -> None:
    """Refuse other patterns for a source that is there, if they would drop books: to add is to put them beside."""
    former = next(iter(sources_at(record, source.address)), source)
    there = [one.file_id for one in held if one.source_id == former.address]
    lost = [file_id for file_id in there if file_id not in offers.fingerprints]
    if not lost or former.choice == source.choice:
        return
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    raise AstRagValidationError(
        f"{source.address!r} is in the index {record.id!r} already, with {former.choice}; with {source.choice} it would"
        f" lose {', '.join(lost[:_NAMED])}{more}. Give all patterns at once, or name it as replacing itself to choose"
        " anew."
    )
