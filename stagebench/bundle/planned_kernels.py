"""How do launch plans become variants that can be bundled?  Compiled, held against their PTX, read.

What is wrong with a plan is an error; a source that does not compile leaves its variant out, and
the others go on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from msgspec.structs import replace as replaced

from stagebench.assemble.assembler import Assembler
from stagebench.assemble.records import Assembled, MachineText, NotAssembled
from stagebench.bundle.build import Candidate, cubin_arch
from stagebench.bundle.device_arch import check_assembles
from stagebench.bundle.given_kernel import GivenKernel
from stagebench.bundle.given_sites import files_of_locations, line_directives
from stagebench.bundle.plan_checks import check_fits, entry_of
from stagebench.bundle.plan_depths import check_depths, warn_of_same_code
from stagebench.bundle.plan_file import read_plan
from stagebench.bundle.plan_records import Plan
from stagebench.bundle.plan_signature import check_signature
from stagebench.bundle.planned_launch import launch_of, scalars_of, variant_of
from stagebench.errors import MachineError, StagebenchError, UsageError
from stagebench.facts.arch import SHARED_MEMORY_LIMIT_BYTES
from stagebench.machine.derive import not_assembled
from stagebench.machine.machine_code import derive_given
from stagebench.model import Launch, MachineCode, Toolchain
from stagebench.ptx.read import read_module
from stagebench.ptx.records import Module

_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)
_NO_FILE = (
    ": folders of own headers go into the plan's include; the C library's are not there, so that "
    "what only host code needs has to be behind #ifndef __CUDACC_RTC__"
)
_AS_GIVEN = "none: the PTX is as it was given"

Made = Assembled | MachineText


@dataclass(frozen=True)
class _Started:
    """A plan whose source is being assembled."""

    path: Path
    plan: Plan
    text: str
    made: Future[Assembled | NotAssembled] | Future[MachineText | NotAssembled]


def planned_candidates(
    paths: Sequence[Path],
    assembler: Assembler,
    warn: Callable[[str], None],
    device_arch: str | None = None,
) -> list[Candidate]:
    """The kernels of launch plans, assembled and read; `UsageError` names the plan and the field.

    What is read of the machine code is of what is packed: of the device's, for ``device_arch``.
    Own headers may change without the source doing so: what includes some is compiled anew.
    """
    plans = [(path, read_plan(path)) for path in paths]
    seen: dict[bytes | str, Path] = {}
    for path, plan in plans:
        same = seen.setdefault(str(variant_of(plan)), path)
        if same is not path:
            raise UsageError(
                f"{path}: {same} has the same kernel, num_stages, params and arch",
                hint="two depths differ in num_stages, two kernels in kernel or in params",
            )
        check_assembles(plan.arch, f"{path}: arch")
    check_depths(plans)
    toolchain = assembler.toolchain
    with Assembler(toolchain, jobs=2, cache_folder=None, warn=warn) as uncached:
        started = [_start(path, plan, assembler, uncached, warn) for path, plan in plans]
        found = [_candidate(one, assembler, warn, device_arch) for one in started]
    made = [(one.path, one.plan, had.cubin) for one, had in zip(started, found, strict=True)]
    warn_of_same_code(made, warn)
    return found


def _start(
    path: Path,
    plan: Plan,
    assembler: Assembler,
    uncached: Assembler,
    warn: Callable[[str], None],
) -> _Started:
    source = path.parent / plan.source
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path}: source {source} can't be read as text: {exc}") from exc
    if source.suffix == ".ptx":
        entry_of(plan, _module(text, path, plan), text, str(path))
        made = assembler.submit_ptx(text, plan.arch, plan.entry)
        return _Started(path, plan, text, made)
    check_signature(plan, text, str(path), warn)
    includes = _own_headers(path, plan, text)
    flags = (
        *(f"-I{folder}" for folder in includes),
        *(f"-D{name}={value}" for name, value in plan.define.items()),
        *plan.flags,
    )
    compiler = uncached if includes else assembler
    compiled = compiler.submit(text, plan.arch, plan.entry, cuda_flags=flags)
    return _Started(path, plan, text, compiled)


def _own_headers(path: Path, plan: Plan, text: str) -> list[Path]:
    """The folders in which the author's headers are looked for."""
    found = [(path.parent / one).resolve() for one in plan.include]
    if _OWN_INCLUDE.search(text):
        found.insert(0, (path.parent / plan.source).parent.resolve())
    return found


def _module(ptx: str, path: Path, plan: Plan) -> Module:
    try:
        return read_module(ptx)
    except StagebenchError as exc:
        raise UsageError(f"{path}: the PTX of {plan.source}: {exc.message}", hint=exc.hint) from exc


def _problem(made: NotAssembled, source: str) -> str:
    """The compiler's own first error, on a line of the user's own file where it is of that."""
    said = not_assembled(made)
    own = source.rpartition(".")[2]
    where = "".join(
        f" ({source if at.artifact.endswith(own) else at.artifact}:{at.line})"
        for at in said.evidence[:1]
    )
    why = _NO_FILE if "cannot open source file" in said.message else ""
    return f"it does not assemble: {said.message}{where}{why}"


def _check_room(one: _Started, arch: str, ctas: int, static_bytes: int) -> None:
    if ctas == 0:
        plan = one.plan
        limit = SHARED_MEMORY_LIMIT_BYTES[arch]
        raise UsageError(
            f"{one.path}: no CTA fits into an SM of {arch}: {static_bytes} bytes of static "
            f"and {plan.dynamic_smem_bytes} of dynamic shared memory, {prod(plan.block)} threads",
            hint=f"a block has {limit} bytes of shared memory at most, static and dynamic",
        )


def _packed(
    made: Made, one: _Started, launch: Launch, assembler: Assembler, arch: str
) -> Made | NotAssembled:
    """The code as it is packed: that of a lower arch is assembled for the device's."""
    if arch == one.plan.arch:
        return made
    return assembler.submit_ptx(made.ptx, arch, launch.function).result()


def _machine(
    given: GivenKernel, made: Made | NotAssembled, arch: str, versions: Toolchain
) -> MachineCode:
    """What is read of the packed code; raises a `StagebenchError` where it can't be."""
    if isinstance(made, NotAssembled):
        raise MachineError(f"it does not assemble for {arch}: {made.message}")
    return derive_given(arch, given.launch, made, versions, given.integers)


def _candidate(
    one: _Started, assembler: Assembler, warn: Callable[[str], None], device_arch: str | None
) -> Candidate:
    made = one.made.result()
    plan = one.plan
    kernel_cu = one.text if plan.source.endswith(".cu") else None
    given = GivenKernel(
        variant=variant_of(plan),
        launch=launch_of(plan, plan.entry),
        scalars=scalars_of(plan),
        source=Path(plan.source).name,
        headers=tuple(map(str, _own_headers(one.path, plan, one.text))) if kernel_cu else (),
    )
    ptx = made.ptx
    if ptx is not None:
        module = _module(ptx, one.path, plan)
        function = entry_of(plan, module, ptx, str(one.path))
        check_fits(plan, function, str(one.path))
        cuda_file, lines = files_of_locations(function, module.files)
        given = replace(
            given,
            launch=launch_of(plan, function.name),
            cuda_file=cuda_file if kernel_cu is None else given.source,
            lines=lines if kernel_cu is None else line_directives(one.text),
        )
    if isinstance(made, NotAssembled):
        given = replace(given, problem=_problem(made, given.source))
        return Candidate(result=given, kernel_cu=kernel_cu, ptx=ptx)
    versions = assembler.toolchain.versions
    if kernel_cu is None:
        versions = replaced(versions, ptx_compiler=_AS_GIVEN)
    arch = cubin_arch(plan.arch, device_arch)
    try:
        packed = _packed(made, one, given.launch, assembler, arch)
        machine = _machine(given, packed, arch, versions)
    except StagebenchError as exc:
        warn(f"{one.path}: no facts of machine code: {exc.message}")
        machine = None
    if machine is not None and machine.occupancy is not None:
        _check_room(one, arch, machine.occupancy.ctas_per_sm, machine.resources.static_smem_bytes)
    return Candidate(
        result=replace(given, machine=machine, packed_arch=arch),
        kernel_cu=kernel_cu, ptx=made.ptx, cubin=made.cubin,
    )  # fmt: skip
