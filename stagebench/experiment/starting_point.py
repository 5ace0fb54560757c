"""What does a new experiment look like?  A commented file that `check` understands as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence

_TEXT = '''\
"""{question}

Lower every variant and compare it with the accepted baselines (needs no GPU):
    stagebench check {file}
Accept what the compiler does now, the first time and whenever it changed for a reason:
    stagebench accept {file} --reason "..."
"""

from stagebench import Case, Experiment, expect

EXPERIMENT = Experiment(
    question={quoted_question},
    cases=[
        # Every combination of depth, arch and parameters is a variant with a baseline of its own.
        # In params a list is an axis: params={{"block_N": [64, 128]}}.
        Case(
            kernel={quoted_kernel},
            num_stages={depths},
            arch={archs},
        ),
    ],
    expectations=[
        # What must be true of every variant, whatever the baseline says.  v.buffers, v.loops,
        # v.totals, v.launch, v.barriers, v.shared_memory are the facts `stagebench explain` shows;
        # v.at(num_stages=1) is the variant beside this one.
        expect("it lowers", lambda v: v.outcome == "lowered"),
        # expect(
        #     "one version of A_shared a stage",
        #     lambda v: v.buffers["A_shared"].num_versions == v.num_stages,
        #     where={{"num_stages": {depth}}},
        # ),
    ],
    policy={{
        # What no pattern names must be exactly as in the baseline.  Also: ignore, may change,
        # may shrink, may grow up to 5 %, may appear, may vanish, must appear, must not vanish.
        # "shared_memory.dynamic_bytes": "may shrink",
        # "sync_totals[wgmma].*": "must not vanish",
    }},
)

if __name__ == "__main__":
    from stagebench.cli import main

    raise SystemExit(main(["check", __file__, "--all"]))
'''


def starting_point(
    file: str, kernel: str, num_stages: Sequence[int] | None, archs: Sequence[str]
) -> str:
    """The text of a new experiment file; ``file`` is its path as the user will type it."""
    name = kernel.rpartition("/")[2]
    question = f"Does {name} keep its pipeline?"
    depths = None if num_stages is None else list(num_stages)
    return _TEXT.format(
        question=question,
        quoted_question=_quoted(question),
        file=file,
        quoted_kernel=_quoted(kernel),
        depths=_listed(depths),
        archs=_listed(list(archs)),
        depth=num_stages[0] if num_stages else 2,
    )


def _quoted(text: str) -> str:
    """A text as the formatter writes it."""
    return json.dumps(text, ensure_ascii=False)


def _listed(values: list[int] | list[str] | None) -> str:
    return "None" if values is None else json.dumps(values)
