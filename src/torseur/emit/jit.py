"""From LLVM text to machine code in this process, through LLVM's ORC (``LLJIT``)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

from torseur.emit.ir import Lanes
from torseur.errors import CompileError

__all__ = ["Library", "Machine", "Tier", "assemble", "assembly", "host", "is_native", "link"]


class Tier(Enum):
    """How much work goes into the machine code."""

    QUICK = 0  # several times faster to compile, several times slower to run
    FULL = 1  # for straight-line code, level 2 takes half as long again and gives the same code but for a few moves
    STEERING = 2  # of loops around calls: long and soon done, they are not worth twice the time to compile
    LOOPS = 3  # of routines: all that LLVM knows about loops


@dataclass(frozen=True)
class Machine:
    """The processor code is made for."""

    triple: str
    cpu: str
    features: str

    @cached_property
    def lanes(self) -> Lanes:
        """As many doubles as a vector register of this processor holds, at least two."""
        on = {f[1:] for f in self.features.split(",") if f.startswith("+")}
        if "avx512f" in on:
            return Lanes(8)
        return Lanes(4) if "avx" in on else Lanes(2)

    @property
    def in_one_piece(self) -> bool:
        """Whether code and constants are linked side by side, so that code may reach them by short addresses.

        That is what LLVM's newer linker does, where LLVM itself prefers it; the older one may put them anywhere.
        Measured: code a tenth faster, linked in half the time.
        """
        architecture, _, system = self.triple.partition("-")
        return architecture in ("x86_64", "amd64", "aarch64", "arm64") and "windows" not in system


class Library:
    """Linked machine code; the addresses hold as long as this object lives."""

    def __init__(self, tracker: Any, names: tuple[str, ...]) -> None:
        self._tracker = tracker
        self._addresses = {name: int(tracker[name]) for name in names}

    def __getitem__(self, name: str) -> int:
        return self._addresses[name]

    def __contains__(self, name: str) -> bool:
        return name in self._addresses


_lock = Lock()
_serial = itertools.count()
if hasattr(os, "register_at_fork"):  # a child must not inherit LLVM, or this lock, in the middle of something
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@lru_cache(maxsize=1)
def _llvm() -> Any:
    try:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.check_jit_execution()
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise CompileError(
            "native code cannot be made on this machine",
            expected="a working llvmlite",
            got=f"{type(error).__name__}: {error}",
            remedy="pip install --force-reinstall llvmlite, or compile(function, backend=Backend.NUMPY)",
        ) from error
    return llvm


@lru_cache(maxsize=1)
def host() -> Machine:
    """This machine."""
    llvm = _llvm()
    return Machine(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def is_native() -> bool:
    """Whether native code can be made on this machine."""
    try:
        host()
    except CompileError:
        return False
    return True


@lru_cache(maxsize=4)
def _target(machine: Machine, tier: Tier) -> Any:
    target, model = _llvm().Target.from_triple(machine.triple), "small" if machine.in_one_piece else "jitdefault"
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=tier.value, reloc="pic", codemodel=model, jit=True
    )


@lru_cache(maxsize=1)
def _engine() -> Any:
    llvm, machine = _llvm(), host()
    target = llvm.Target.from_triple(machine.triple).create_target_machine(jit=True)
    return llvm.create_lljit_compiler(target, use_jit_link=machine.in_one_piece)


def assemble(text: str, machine: Machine, tier: Tier = Tier.FULL) -> bytes:
    """Machine code, as an object file, for a module in LLVM's assembly language."""
    with _lock:
        try:
            return bytes(_target(machine, tier).emit_object(_module(text, machine, tier)))
        except RuntimeError as error:
            raise _refused(error) from error


def assembly(text: str, machine: Machine, tier: Tier = Tier.FULL) -> str:
    """The same code as `assemble` gives, in the processor's assembly language, to be looked at."""
    with _lock:
        try:
            return str(_target(machine, tier).emit_assembly(_module(text, machine, tier)))
        except RuntimeError as error:
            raise _refused(error) from error


def _module(text: str, machine: Machine, tier: Tier) -> Any:
    llvm, target = _llvm(), _target(machine, tier)
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(target.target_data)
    if tier is Tier.FULL:
        _simplify(llvm, module, target)
    elif tier in (Tier.STEERING, Tier.LOOPS):
        _optimise(llvm, module, target, fully=tier is Tier.LOOPS)
    return module


def _refused(error: RuntimeError) -> CompileError:
    return CompileError("LLVM refused the generated code", got=str(error)[:500])


def _simplify(llvm: Any, module: Any, target: Any) -> None:
    """The few passes that pay on straight-line code which is already free of common subexpressions."""
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, builder)


def _optimise(llvm: Any, module: Any, target: Any, *, fully: bool) -> None:
    """Vector loops included; fully, or as far as it is quickly done."""
    options = llvm.create_pipeline_tuning_options(speed_level=3 if fully else 1)
    options.loop_vectorization, options.slp_vectorization, options.loop_unrolling = True, fully, fully
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)


def link(code: bytes, names: tuple[str, ...], imports: Mapping[str, int] | None = None) -> Library:
    """Load an object file; what it needs comes from this process (the C library) and from `imports`."""
    llvm = _llvm()
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        builder.export_symbol(name)
    for name, address in (imports or {}).items():
        builder.import_symbol(name, address)
    with _lock:
        try:
            return Library(builder.link(_engine(), f"torseur{next(_serial)}"), names)
        except RuntimeError as error:
            raise CompileError("the compiled code could not be linked", got=str(error)[:500]) from error
