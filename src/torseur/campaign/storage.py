"""The folder of a campaign: what was asked, and a file for each chunk, complete or not there.

::

    campaign.yaml  study.yaml  rows.csv    what was asked, on its own feet
    manifest.json                          runs, size of a chunk, fingerprint, units
    indicators/chunk-000000.parquet        factors, indicators, outcome and reason of every run
    channels/chunk-000000.nc               channels that are kept
    slopes.json  slopes/chunk-*.parquet    of a search along slopes: how they are found, and what they are
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.description import Campaign
from torseur.campaign.reader import KEY, VERSION, load_campaign
from torseur.campaign.work import LATE, Chunk, Work
from torseur.errors import ArgumentError, MissingExtra
from torseur.formats import replace_file
from torseur.formats.yaml.writer import block, plain
from torseur.simulation.study.writer import study_text
from torseur.version import __version__

__all__ = ["Folder", "arrow", "channels_bytes", "fingerprint", "table_bytes", "texts_of"]

MANIFEST, INDICATORS, CHANNELS = "manifest.json", "indicators", "channels"
SLOPES, SLOPES_NOTE = "slopes", "slopes.json"
STUDY, CAMPAIGN, ROWS = "study.yaml", "campaign.yaml", "rows.csv"


def texts_of(campaign: Campaign) -> dict[str, str]:
    """The files that say all of a campaign, by name, but for its timeout: that is not what is asked."""
    fields = type(campaign).model_fields
    names = [n for n in fields if n not in ("study", "timeout")]
    given = {n: getattr(campaign, n) for n in names if getattr(campaign, n) != fields[n].default}
    data: dict[str, Any] = {KEY: VERSION, "study": STUDY}
    texts = {STUDY: study_text(campaign.study)}
    for name, value in given.items():
        if name in ("factors", "indicators"):
            data[name] = {key: {one.kind: plain(one)} for key, one in value.items()}
        elif name == "rows":
            data[name] = {"file": ROWS, "columns": list(value.columns)}
            lines = [";".join(value.columns), *(";".join(map(repr, row)) for row in value.values)]
            texts[ROWS] = "\n".join(lines) + "\n"
        else:
            data[name] = plain(value)
    texts[CAMPAIGN] = "\n".join(line for key, item in data.items() for line in block({key: item})) + "\n"
    return texts


def fingerprint(texts: Mapping[str, str]) -> str:
    """Of what a campaign asks."""
    told = "\0".join(f"{name}\0{texts[name]}" for name in sorted(texts))
    return hashlib.sha256(told.encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Folder:
    """The folder of a campaign."""

    path: Path

    # -- what was asked ------------------------------------------------------------------------------------------------
    def begin(self, work: Work) -> None:
        """Write what is asked, or see that it is what was asked before."""
        texts = texts_of(work.campaign)
        mark = fingerprint(texts)
        if (self.path / MANIFEST).exists():
            if self.manifest["fingerprint"] != mark:
                text = "this folder holds results of another campaign"
                remedy = "choose another folder with -o, or undo the change; results are never mixed"
                raise ArgumentError(text, where=str(self.path), got=self._changed(texts), remedy=remedy)
            if self.manifest["torseur"] != __version__:
                text, made = "computed by another version, whose numbers may differ", self.manifest["torseur"]
                remedy = f"go on with version {made}, or choose another folder"
                raise ArgumentError(text, where=str(self.path), expected=__version__, got=made, remedy=remedy)
            return
        try:
            for name in (INDICATORS, CHANNELS) if work.campaign.keep else (INDICATORS,):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            got = error.strerror or type(error).__name__
            raise ArgumentError("the folder cannot be written to", where=str(self.path), got=got) from error
        for name, text in texts.items():
            replace_file(self.path / name, text.encode("utf-8"))
        told = {
            "fingerprint": mark,
            "runs": work.runs * (work.campaign.search.evaluations if work.campaign.search else 1),
            "chunk": work.chunk,
            "factors": list(work.campaign.names),
            "indicators": list(work.campaign.indicators),
            "units": work.units,
            "torseur": __version__,
        }
        replace_file(self.path / MANIFEST, json.dumps(told, indent=2).encode("utf-8"))

    def _changed(self, texts: Mapping[str, str]) -> str:
        """The first line that is not what was asked before."""
        for name, text in texts.items():
            file = self.path / name
            before = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
            for k, (old, new) in enumerate(zip_longest(before, text.splitlines(), fillvalue="nothing"), 1):
                if old != new:
                    same = max(sum(1 for _ in takewhile(lambda c: c[0] == c[1], zip(old, new, strict=False))) - 24, 0)
                    return f"{name}, line {k}: '{new[same:][:72].strip()}', before '{old[same:][:72].strip()}'"
        return "more or fewer files"

    @property
    def manifest(self) -> dict[str, Any]:
        """Runs, size of a chunk, fingerprint, names and units."""
        try:
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            expected = f"a folder that 'torseur campaign FILE -o {self.path}' made"
            raise ArgumentError(
                "this is not the folder of a campaign", where=str(self.path), expected=expected
            ) from error
        assert isinstance(found, dict)
        return found

    def campaign(self) -> Campaign:
        """What was asked."""
        return load_campaign(self.path / CAMPAIGN)

    # -- chunks --------------------------------------------------------------------------------------------------------
    def file(self, k: int) -> Path:
        return self.path / INDICATORS / f"chunk-{k:06d}.parquet"

    def files(self, part: str = INDICATORS) -> list[Path]:
        """The files of all chunks that are there, by number."""
        return sorted((self.path / part).glob("chunk-*"), key=lambda file: (len(file.name), file.name))

    def stored(self) -> frozenset[int]:
        """The numbers of the chunks that are there."""
        return frozenset(int(path.stem.removeprefix("chunk-")) for path in self.files())

    def store(self, k: int, table: bytes, channels: bytes | None) -> None:
        """A chunk, complete; it counts once its table is there, and one that was there before counts no more."""
        self.file(k).unlink(missing_ok=True)
        if channels is not None:
            replace_file(self.path / CHANNELS / f"chunk-{k:06d}.nc", channels)
        replace_file(self.file(k), table)

    def late(self) -> frozenset[int]:
        """The numbers of the chunks with runs that were ended by the clock."""
        parquet = arrow()[1]

        def is_late(file: Path) -> bool:
            reasons = parquet.ParquetFile(file).read(["reason"])["reason"].unique().to_pylist()
            return any(reason.startswith(LATE) for reason in reasons)

        return frozenset(k for k in self.stored() if is_late(self.file(k)))

    # -- slopes of a search --------------------------------------------------------------------------------------------
    def slopes_file(self, k: int) -> Path:
        """Where the derivatives of a candidate are, which is alone in its chunk."""
        return self.path / SLOPES / f"chunk-{k:06d}.parquet"

    def store_slopes(self, k: int, columns: Mapping[str, NDArray[np.float64]]) -> None:
        pyarrow, parquet = arrow()
        stream = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.table({n: _numbers(x) for n, x in columns.items()}), stream)
        (self.path / SLOPES).mkdir(exist_ok=True)
        replace_file(self.slopes_file(k), bytes(stream.getvalue()))

    def note_slopes(self, why_differences: str | None) -> None:
        """Take down how slopes are found: by sensitivities of runs, or by differences, and why."""
        told = {"slopes": "exact" if why_differences is None else "differences", "reason": why_differences}
        replace_file(self.path / SLOPES_NOTE, json.dumps(told, indent=2).encode("utf-8"))

    def slopes_note(self) -> dict[str, str | None] | None:
        """The same, read; None where a search asked for no slopes."""
        file = self.path / SLOPES_NOTE
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    # -- room ----------------------------------------------------------------------------------------------------------
    def check_room(self, work: Work, runs: int, files: int) -> int:
        """Bytes that so many runs in so many files will take, about; refused if the disk does not hold them."""
        names = len(work.campaign.names) + len(work.campaign.indicators)
        kept = len(work.campaign.keep.channels) * len(work.simulation.grid) if work.campaign.keep else 0
        wanted = runs * 8 * (names + 1 + kept) + files * 4096
        there = next(p for p in (self.path, *self.path.absolute().parents) if p.exists())
        free = shutil.disk_usage(there).free
        if wanted > free:
            raise ArgumentError(
                "more runs than the disk holds",
                where=str(self.path),
                expected=f"at most {free / 1e9:.3g} GB",
                got=f"about {wanted / 1e9:.3g} GB for {runs} runs",
                remedy="fewer runs, fewer channels to keep, or records further apart",
            )
        return wanted


def arrow() -> tuple[Any, Any]:
    """The packages that read and write Parquet."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="campaign", purpose="a campaign") from None
    return pyarrow, parquet


def table_bytes(chunk: Chunk) -> bytes:
    """A chunk as a Parquet file."""
    pyarrow, parquet = arrow()
    runs = np.arange(chunk.first, chunk.first + len(chunk), dtype=np.int64)
    columns = {"run": _numbers(runs)}
    columns |= {n: _numbers(x) for n, x in (*chunk.factors.items(), *chunk.indicators.items())}
    columns["outcome"], columns["reason"] = _words(chunk.outcomes), _words(chunk.reasons)
    stream = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(columns), stream, use_dictionary=["outcome", "reason"])
    return bytes(stream.getvalue())


def _numbers(values: NDArray[Any]) -> Any:
    """A column of numbers. It is made of its bytes: `pyarrow.array` imports pandas, which takes time and memory."""
    pyarrow = arrow()[0]
    kind = pyarrow.from_numpy_dtype(values.dtype)
    return pyarrow.Array.from_buffers(kind, len(values), [None, pyarrow.py_buffer(np.ascontiguousarray(values))])


def _words(texts: list[str]) -> Any:
    """A column of texts that are often the same, likewise."""
    pyarrow = arrow()[0]
    places = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    encoded = [text.encode("utf-8") for text in places]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(encoded))]
    names = pyarrow.Array.from_buffers(pyarrow.string(), len(encoded), buffers)
    indices = np.fromiter((places[text] for text in texts), dtype=np.int32, count=len(texts))
    return pyarrow.DictionaryArray.from_arrays(_numbers(indices), names)


def channels_bytes(chunk: Chunk) -> bytes | None:
    """The channels that are kept of a chunk, as netCDF: run, time.

    HDF5 places its records by when its objects are closed, and Dask's profiler holds frames, with what is in them, now
    and then: all objects stay open until the file is closed, so the same numbers are the same bytes.
    """
    if not chunk.kept:
        return None
    try:
        import h5py
    except ImportError:
        raise MissingExtra("h5py", extra="campaign", purpose="channels of a campaign") from None
    runs = np.arange(chunk.first, chunk.first + len(chunk), dtype=np.int64)
    stream, axes = BytesIO(), {"run": runs, "time": chunk.time}
    with h5py.File(stream, "w", track_order=True) as file:
        made = {n: file.create_dataset(n, data=x, track_order=True) for n, x in {**axes, **chunk.kept}.items()}
        for k, name in enumerate(axes):
            made[name].attrs["_Netcdf4Dimid"] = np.int32(k)
            made[name].make_scale(name)
        for name in chunk.kept:
            for k, axis in enumerate(axes):
                made[name].dims[k].attach_scale(made[axis])
    return stream.getvalue()
