"""Which inputs and expected outputs do an experiment's cases give the variants of a run?

``--case EXPERIMENT.py::case`` names them; ``--case FILE.py`` takes the functions ``inputs`` and
``reference`` of a file that is no experiment, such as the kernel's own.  They are called once for
all depths, in a process of their own (`stagebench.experiment.value_functions`), when the bundle is
made: the GPU host gets numbers.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from stagebench.bundle.build import BuildOptions, Candidate
from stagebench.bundle.errors import BundleError
from stagebench.bundle.launch_plan import bundled_tensors
from stagebench.bundle.references import case_of
from stagebench.errors import UsageError
from stagebench.experiment.definition import Case
from stagebench.experiment.experiment_file import load_experiment
from stagebench.experiment.kernel_reference import parse_kernel
from stagebench.experiment.planned_variants import kernel_from
from stagebench.experiment.value_functions import (
    ANSWER,
    REQUEST,
    ValuesAnswer,
    ValuesRequest,
    is_experiment,
)
from stagebench.model import Variant

SECONDS = 600.0
"""How long the functions of one case may take."""
_TAIL_LINES = 6


@dataclass(frozen=True)
class Source:
    """Functions: those of a case, or (``case`` is ``None``) of a file."""

    file: Path
    case: Case | None
    kernel: str | None

    @property
    def said(self) -> str:
        """As people are told it."""
        return str(self.file) if self.case is None else f"{self.file}::{self.case.label}"

    def is_for(self, variant: Variant) -> bool:
        """Is this variant one of the case's, at any depth and for any arch?"""
        if self.case is None:
            return True
        values = {**variant.params, **variant.pass_configs}
        return variant.kernel == self.kernel and all(
            name not in values or any(_same(values[name], one) for one in several)
            for name, several in self.case.axes.items()
        )


def _same(one: object, other: object) -> bool:
    return one == (tuple(other) if isinstance(other, list) else other)


def with_case_values(
    candidates: Sequence[Candidate],
    texts: Sequence[str],
    options: BuildOptions,
    seed: int,
    warn: Callable[[str], None],
    *,
    seconds: float = SECONDS,
) -> list[Candidate]:
    """The candidates with the values of ``texts``; those of no case keep seeded random ones.

    Raises `UsageError` where a case is not there, fits nothing, or its functions fail.
    """
    sources = [source for text in texts for source in _sources(text)]
    made: dict[bytes, tuple[Mapping[str, bytes], Mapping[str, bytes]]] = {}
    used: set[str] = set()
    found = []
    plain = 0
    for one in candidates:
        if one.launch is None:
            found.append(one)
            continue
        mine = [source for source in sources if source.is_for(one.result.variant)]
        if len(mine) > 1:
            raise UsageError(
                f"{one.result.variant.kernel} is of several cases: "
                f"{', '.join(source.said for source in mine)}",
                hint=f"name one: --case {mine[0].said}",
            )
        if not mine:
            plain += 1
            found.append(one)
            continue
        used.add(mine[0].said)
        request = _request(one, mine[0], options, seed)
        key = msgspec.json.encode(request)
        if key not in made:
            made[key] = _called(request, mine[0], seconds)
        contents, expected = made[key]
        found.append(replace(one, contents=contents, expected=expected))
    unused = [source.said for source in sources if source.said not in used]
    if unused and not used:
        kernels = ", ".join(dict.fromkeys(one.result.variant.kernel for one in candidates))
        raise UsageError(f"--case {unused[0]}: no variant is of it", hint=f"here are {kernels}")
    if plain:
        warn(f"{plain} variants are of no --case: their inputs are seeded random")
    return found


def _sources(text: str) -> list[Source]:
    """The cases that one ``--case`` names."""
    name, colons, label = text.partition("::")
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise UsageError(
            f"--case {text}: no file {name}", hint="EXPERIMENT.py::case, or a file with inputs()"
        )
    if not is_experiment(path):
        if colons:
            raise UsageError(f"--case {text}: {name} defines no experiment, so it has no cases")
        return [Source(path, None, None)]
    experiment = load_experiment(path).experiment
    if colons and label not in [case.label for case in experiment.cases]:
        raise UsageError(
            f"--case {text}: no case is called so",
            hint=f"there are: {', '.join(case.label for case in experiment.cases)}",
        )
    own = experiment.inputs or experiment.reference
    having = [
        case
        for case in experiment.cases
        if (case.label == label or not colons) and (own or case.inputs or case.reference)
    ]
    if not having:
        raise UsageError(
            f"--case {text}: it has neither inputs nor reference",
            hint="Case(…, inputs=FUNCTION, reference=FUNCTION)",
        )
    return [
        Source(path, case, parse_kernel(kernel_from(case.kernel, path.parent)).name)
        for case in having
    ]


def _request(one: Candidate, source: Source, options: BuildOptions, seed: int) -> ValuesRequest:
    variant, launch, scalars = one.result.variant, one.launch, {**options.scalars, **one.scalars}
    assert launch is not None  # noqa: S101 - what did not lower has no tensors
    try:
        tensors = bundled_tensors(launch, scalars)
    except BundleError as exc:
        raise UsageError(f"--case {source.said}: {exc.message}", hint=exc.hint) from exc
    return ValuesRequest(
        file=str(source.file),
        case=None if source.case is None else source.case.label,
        variants=case_of(variant),
        seed=seed,
        kernel=variant.kernel,
        params={name: value for name, value in variant.params.items() if name != "num_stages"},
        scalars=scalars,
        tensors=tuple(
            msgspec.structs.replace(tensor, values=options.values.get(tensor.name))
            for tensor in tensors
        ),
    )


def _called(
    request: ValuesRequest, source: Source, seconds: float
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What the functions give, called in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="stagebench-values-") as name:
        folder = Path(name)
        (folder / REQUEST).write_bytes(msgspec.json.encode(request))
        command = [sys.executable, "-m", "stagebench.experiment.value_functions", name]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"{source.said}: inputs() and reference() were not done in {seconds:g} s"
            ) from None
        if not (folder / ANSWER).is_file():
            raise UsageError(f"{source.said}: {_ended(done)}")
        answer = msgspec.json.decode((folder / ANSWER).read_bytes(), type=ValuesAnswer)
        if answer.error is not None:
            raise UsageError(f"{source.said}: {answer.error}", hint=answer.hint)
        if not answer.contents and not answer.expected:
            raise UsageError(
                f"{source.said}: it gives no values",
                hint="it defines neither inputs(asked, random) nor reference(asked, inputs)",
            )
        return tuple(
            {tensor: (folder / file).read_bytes() for tensor, file in files.items()}
            for files in (answer.contents, answer.expected)
        )  # type: ignore[return-value]


def _ended(done: subprocess.CompletedProcess[bytes]) -> str:
    tail = "\n".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-_TAIL_LINES:])
    how = f"code {done.returncode}"
    if done.returncode < 0:
        how = signal.Signals(-done.returncode).name
    said = f"the process of inputs() and reference() ended with {how}"
    return f"{said}:\n{tail}" if tail else said
