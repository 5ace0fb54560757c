"""Do the IR and the generated CUDA tell the same story?

Each level is read on its own (`SeenKernel.sites` from IR objects, `CudaSite` from a syntax tree).
Here they are laid side by side: per op the call sites and, where both are integers, the executions.
A difference is a diagnostic, never a silent choice.  Sites of one op are paired in program order,
which gives each IR site its line in ``kernel.cu``.
"""

from __future__ import annotations

from collections.abc import Sequence

from stagebench.facts.counts import product, total
from stagebench.facts.cuda_sites import CudaKernel, CudaSite
from stagebench.facts.sync import executions
from stagebench.model import Diagnostic, Evidence, Extent
from stagebench.model.observation import SeenKernel, SeenSite


def pair_lines(kernel: SeenKernel, cuda: CudaKernel) -> tuple[int | None, ...]:
    """The CUDA line of every IR site; ``None`` where the op's sites don't pair up one to one."""
    lines: dict[str, list[int]] = {}
    for site in cuda.sites:
        lines.setdefault(site.op, []).append(site.line)
    counts: dict[str, int] = {}
    for seen in kernel.sites:
        counts[seen.op] = counts.get(seen.op, 0) + 1
    taken: dict[str, int] = {}
    result: list[int | None] = []
    for seen in kernel.sites:
        found = lines.get(seen.op, [])
        index = taken.get(seen.op, 0)
        taken[seen.op] = index + 1
        result.append(found[index] if len(found) == counts[seen.op] else None)
    return tuple(result)


def reconcile(kernel: SeenKernel, cuda: CudaKernel) -> tuple[Diagnostic, ...]:
    """One diagnostic per op (and per disagreement on thread count or arena) that differs."""
    found: list[Diagnostic] = []
    ops = sorted({site.op for site in kernel.sites} | {site.op for site in cuda.sites})
    for op in ops:
        seen = [site for site in kernel.sites if site.op == op]
        written = [site for site in cuda.sites if site.op == op]
        found += _compare(op, kernel, seen, written)
    disagreeing = {diagnostic.message.partition(":")[0] for diagnostic in found}
    found += _unconfirmed([op for op in ops if op not in disagreeing], kernel, cuda)
    found += _compare_threads(kernel, cuda)
    found += _compare_arena(kernel, cuda)
    return tuple(found)


def _compare(
    op: str, kernel: SeenKernel, seen: Sequence[SeenSite], written: Sequence[CudaSite]
) -> list[Diagnostic]:
    ir_dynamic, cuda_dynamic = _executions(kernel, seen, written)
    same_sites = len(seen) == len(written)
    comparable = isinstance(ir_dynamic, int) and isinstance(cuda_dynamic, int)
    same_runs = ir_dynamic == cuda_dynamic if comparable else True
    if same_sites and same_runs:
        return []
    what = "sites" if not same_sites else "executions"
    ir_count, cuda_count = (
        (len(seen), len(written)) if not same_sites else (ir_dynamic, cuda_dynamic)
    )
    return [
        Diagnostic(
            severity="warning",
            code="ir-cuda-disagree",
            message=f"{op}: {ir_count} {what} in the device IR, {cuda_count} in the generated CUDA",
            evidence=tuple(
                Evidence(artifact="kernel.cu", line=site.line, text=site.callee)
                for site in written[:8]
            ),
        )
    ]


def _executions(
    kernel: SeenKernel, seen: Sequence[SeenSite], written: Sequence[CudaSite]
) -> tuple[Extent | None, Extent | None]:
    in_ir = total(executions(kernel, site) for site in seen)
    return in_ir, total(site.dynamic for site in written)


def _unconfirmed(ops: Sequence[str], kernel: SeenKernel, cuda: CudaKernel) -> list[Diagnostic]:
    """Symbolic counts are expressions in each level's own words: only sites are confirmed."""
    names = []
    for op in ops:
        in_ir, in_cuda = _executions(
            kernel,
            [site for site in kernel.sites if site.op == op],
            [site for site in cuda.sites if site.op == op],
        )
        if in_ir != in_cuda:
            names.append(op)
    if not names:
        return []
    return [
        Diagnostic(
            severity="note",
            code="executions-not-confirmed",
            message="a trip count is not constant: the generated CUDA confirms the call sites, "
            f"not the executions, of {', '.join(names)}",
        )
    ]


def _compare_threads(kernel: SeenKernel, cuda: CudaKernel) -> list[Diagnostic]:
    """TileLang's code generation bounds a launch by exactly the threads of a CTA."""
    threads = product(kernel.block)
    bound = cuda.launch_bounds[0] if cuda.launch_bounds else None
    if not isinstance(threads, int) or not isinstance(bound, int) or threads == bound:
        return []
    return [
        Diagnostic(
            severity="warning",
            code="ir-cuda-disagree",
            message=f"{threads} threads in the device IR, {bound} in the generated CUDA's "
            "launch bounds",
            evidence=(Evidence(artifact="kernel.cu", line=cuda.line),),
        )
    ]


def _compare_arena(kernel: SeenKernel, cuda: CudaKernel) -> list[Diagnostic]:
    aliases = {alias.name: alias.offset_bytes for alias in cuda.arena_aliases}
    names = [slot.name for slot in kernel.arena]
    found = []
    for slot in kernel.arena:
        if names.count(slot.name) > 1:
            continue  # code generation renames all but one of them: which is which is not told
        offset = aliases.get(slot.name)
        if offset is not None and offset != slot.offset_bytes:
            found.append(
                Diagnostic(
                    severity="warning",
                    code="ir-cuda-disagree",
                    message=f"{slot.name}: offset {slot.offset_bytes} in the device IR, "
                    f"{offset} in the generated CUDA",
                )
            )
    return found
