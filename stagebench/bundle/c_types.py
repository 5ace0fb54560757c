"""Which dtype is a type of CUDA C++?  As the language (LP64), its headers and CUTLASS call them."""

from __future__ import annotations

C_DTYPES = {
    "bool": "bool", "char": "int8", "signed char": "int8", "int8_t": "int8",
    "unsigned char": "uint8", "uint8_t": "uint8", "short": "int16", "int16_t": "int16",
    "unsigned short": "uint16", "uint16_t": "uint16", "int": "int32", "int32_t": "int32",
    "unsigned": "uint32", "unsigned int": "uint32", "uint32_t": "uint32",
    "long": "int64", "long long": "int64", "int64_t": "int64", "size_t": "uint64",
    "unsigned long": "uint64", "unsigned long long": "uint64", "uint64_t": "uint64",
    "half": "float16", "__half": "float16", "half_t": "float16", "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16", "bfloat16_t": "bfloat16", "float": "float32", "double": "float64",
    "__nv_fp8_e4m3": "float8_e4m3fn", "fp8_e4_t": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2", "fp8_e5_t": "float8_e5m2",
}  # fmt: skip
"""TileLang's templates have names of their own, too."""
