"""What does a new launch plan look like?  Commented TOML; what people must fill in is empty."""

from __future__ import annotations

import json
from collections.abc import Sequence

from stagebench.bundle.cuda_params import SourceParam
from stagebench.bundle.source_entries import SourceEntry, plain_name
from stagebench.kernels import BUILTINS, TVM_BUILTINS

_TEXT = """\
# A launch plan: how a kernel is launched, so that it can be checked, timed and probed.
#   stagebench bundle {plan} -o DIR    assemble it here, pack it for a GPU host
#   stagebench profile {plan}          the same in one step, on a machine with a GPU
# What is empty, or has no value yet, has to be filled in.
# Plans that differ in num_stages alone are depths of one kernel: name them together, and they get
# the same inputs, must agree, and are compared.

kernel = {kernel}  # its name in tables
source = {quoted_source}  # relative to this file
entry = {quoted_entry}{others}
arch = {arch}  # what it is assembled for
{depth}
# params = {{ block_K = 32 }}  # what else tells two variants apart
# made_by = {{ name = "triton", version = "3.5.0" }}  # where the source was generated

grid = []  # blocks: one to three integers
block = {block}  # threads
# cluster = [2]
{smem}  # what the launch asks for, beside static __shared__
{compiling}
# In the order of the kernel's parameters.  A tensor has dtype, shape and role (input, output or
# inout; strides in elements, where it is not compact), a scalar dtype and value, a TMA descriptor
# the fields of cuTensorMapEncodeTiled.
{arguments}"""

_COMPILING = """\
# include = ["../include"]  # folders of own headers; the source's own folder is one
%s
# flags = ["--use_fast_math"]  # further ones of NVRTC
"""

_DESCRIPTOR = """\
# [[tensors]]  # what a descriptor is over, unless an argument is that tensor too
# name = "A"
# dtype = "float16"
# shape = [4096, 4096]
# role = "input"
[arguments.descriptor]  # shapes innermost first, enumerations the driver's integers
tensor = ""
data_type = 6  # CU_TENSOR_MAP_DATA_TYPE_FLOAT16
global_shape = []
global_strides_bytes = []  # the first is the element's size
box = []
swizzle = 0  # CU_TENSOR_MAP_SWIZZLE_NONE
"""


def plan_text(
    plan: str,
    source: str,
    entry: SourceEntry,
    *,
    others: Sequence[str],
    arch: str,
    num_stages: int | None,
) -> str:
    """The text of the plan file ``plan``; ``others`` are the source's further kernels."""
    kernel = plain_name(entry.name)
    if kernel in BUILTINS or kernel in TVM_BUILTINS:
        kernel = f"{kernel}_by_hand"
    return _TEXT.format(
        plan=plan,
        kernel=json.dumps(kernel),
        quoted_source=json.dumps(source),
        quoted_entry=json.dumps(entry.name),
        others=f"  # there are also: {', '.join(others)}" if others else "",
        arch=json.dumps(arch),
        depth="# num_stages = 2" if num_stages is None else f"num_stages = {num_stages}",
        block=f"[{entry.threads}]" if entry.threads else "[]",
        smem="# dynamic_smem_bytes = " if entry.dynamic_smem else "dynamic_smem_bytes = 0",
        compiling=_COMPILING % _define(entry, num_stages) if source.endswith(".cu") else "",
        arguments="\n".join(_argument(one) for one in entry.params)
        if entry.params
        else "arguments = []\n",
    )


def _define(entry: SourceEntry, num_stages: int | None) -> str:
    """The file's own depth, for the compiler where the source takes it."""
    depth = 2 if num_stages is None else num_stages
    mark = "" if entry.takes_depth and num_stages is not None else "# "
    return f"{mark}define = {{ {entry.depth_macro or 'NUM_STAGES'} = {depth} }}"


def _argument(param: SourceParam) -> str:
    lines = ["[[arguments]]", f"name = {json.dumps(param.name)}  # {param.written_as}"]
    if param.kind == "descriptor":
        return "\n".join([*lines, _DESCRIPTOR])
    lines.append(f"dtype = {json.dumps(param.dtype or '')}")
    if param.kind == "scalar" and param.dtype is None:
        lines.append("# not a type that is known here: a tensor's has a shape and a role, too; a")
        lines.append("# struct by value and a pointer to a function can't be passed")
    if param.kind == "scalar":
        return "\n".join([*lines, "# value = 0", ""])
    if param.dtype is None:
        lines.append('# where it is no tensor:  dtype = "uint64", value = 0, and nothing else')
    role = "input" if param.read_only else "output"
    sure = "" if param.read_only else "  # or inout, or input"
    return "\n".join([*lines, "shape = []", f"role = {json.dumps(role)}{sure}", ""])
