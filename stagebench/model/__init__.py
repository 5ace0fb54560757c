"""The records that everything else speaks: variants, facts, outcomes.  No behaviour, no I/O."""

from stagebench.model.base import Extent, ParamValue, Record, Scalar
from stagebench.model.facts import (
    Barrier,
    Diagnostic,
    Evidence,
    Facts,
    Launch,
    LaunchParam,
    LoweringCost,
    PassRun,
    PipelineLoop,
    PipelineStatement,
    SharedBuffer,
    SharedMemory,
    SyncOp,
    SyncTotal,
    TmaDescriptor,
)
from stagebench.model.observation import Observation
from stagebench.model.outcome import SCHEMA_VERSION, Failure, Run, VariantResult
from stagebench.model.variant import Compiler, Variant

__all__ = [
    "SCHEMA_VERSION",
    "Barrier",
    "Compiler",
    "Diagnostic",
    "Evidence",
    "Extent",
    "Facts",
    "Failure",
    "Launch",
    "LaunchParam",
    "LoweringCost",
    "Observation",
    "ParamValue",
    "PassRun",
    "PipelineLoop",
    "PipelineStatement",
    "Record",
    "Run",
    "Scalar",
    "SharedBuffer",
    "SharedMemory",
    "SyncOp",
    "SyncTotal",
    "TmaDescriptor",
    "Variant",
    "VariantResult",
]
