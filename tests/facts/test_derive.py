"""Are the facts put together from both levels, and is a level that can't be read said?"""

from stagebench.facts.derive import derive_facts
from stagebench.model import Diagnostic
from tests.facts.building import arena, buffer, nest, observation, request, site

CUDA = """
__device__ void swish(float* x) {{ *x = *x * 2.0f; }}
extern "C" __global__ void __launch_bounds__({threads}, 1) kernel(float* A) {{
  for (int k = 0; k < {trips}; ++k) {{
    __syncthreads();
    swish(A);
  }}
}}
"""


def derive(seen, text=None, *, threads=128, trips=16, **more):
    text = CUDA.format(threads=threads, trips=trips) if text is None else text
    return derive_facts(seen, text, arch="sm_80", num_stages=2, **more)


def codes(facts):
    return [diagnostic.code for diagnostic in facts.diagnostics]


LOOP = observation(nest("k", 16, site("syncthreads")), requests=[request(num_stages=0)])


def test_both_levels_agree():
    """A kernel whose CUDA says what its IR says: counts, the line in the text, no diagnostic."""
    facts = derive(LOOP)
    (op,) = facts.sync_ops
    assert (op.dynamic, op.section, op.line, op.line_kind) == (16, "body", 10, "synthetic")
    assert CUDA.format(threads=128, trips=16).splitlines()[op.cuda_line - 1].strip() == (
        "__syncthreads();"
    )
    assert codes(facts) == []
    assert (facts.machine, facts.lowering.seconds) == (None, None)


def test_both_levels_disagree():
    """A trip count or a thread count that differs is a diagnostic; the IR's facts stay."""
    facts = derive(LOOP, trips=15)
    assert codes(facts) == ["ir-cuda-disagree"]
    assert facts.sync_totals["syncthreads"].dynamic == 16
    assert codes(derive(LOOP, threads=256)) == ["ir-cuda-disagree"]


def test_cuda_without_the_kernel():
    """A text that has another kernel is not silently taken for it."""
    facts = derive(LOOP, 'extern "C" __global__ void other() {\n  __syncthreads();\n}\n')
    (diagnostic,) = facts.diagnostics
    assert (diagnostic.severity, diagnostic.code) == ("warning", "cuda-not-read")
    assert "no kernel kernel in the generated CUDA (found: other)" in diagnostic.message
    assert facts.sync_ops[0].cuda_line is None


def test_cuda_that_is_no_cuda():
    """A text that can't be parsed confirms nothing, and that is said."""
    facts = derive(LOOP, "void kernel( {{{")
    assert codes(facts) == ["cuda-not-read"]
    assert facts.sync_totals["syncthreads"].dynamic == 16


def test_a_function_that_the_text_defines_is_not_unknown():
    """A call of a device function in the file is read there; loops keep their own sites."""
    seen = observation(
        nest("k", 16, site("syncthreads"), site("unknown:swish")),
        requests=[request(num_stages=0)],
    )
    facts = derive(seen)
    assert [(op.op, op.section) for op in facts.sync_ops] == [("syncthreads", "body")]
    assert codes(facts) == []


def test_a_function_that_nobody_defines_is_unknown():
    """A call of something else stays in the totals and is told."""
    facts = derive(observation(nest("k", 16, site("syncthreads"), site("unknown:other"))))
    assert facts.sync_totals["unknown:other"].dynamic == 16
    assert "unknown-op" in codes(facts)


def test_notes_come_last():
    """What came up while the kernel was loaded stands behind what its facts say."""
    note = Diagnostic(severity="note", code="first-config", message="m")
    assert codes(derive(LOOP, trips=15, notes=[note])) == ["ir-cuda-disagree", "first-config"]


def test_buffers_of_one_name():
    """Two buffers of a name are not told apart: no offset rather than the other one's."""
    slots = (*arena(lhs=0), *arena(lhs=4096), *arena(rhs=8192))
    facts = derive(
        observation(
            nest("k", 16, site("syncthreads")),
            buffers=[buffer("lhs"), buffer("rhs")],
            arena=slots,
        )
    )
    assert [b.offset_bytes for b in facts.shared_buffers] == [None, 8192]
    assert codes(facts) == []
