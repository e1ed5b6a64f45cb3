"""A word or sentence in both languages."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Term"]


class Term(NamedTuple):
    en: str
    fr: str
