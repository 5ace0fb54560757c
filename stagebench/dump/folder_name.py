"""Where in a dump directory does a variant lie?  ``gemm/sm_90a/num_stages=2,block_N=64``.

Every part is made of letters, digits and ``._=,+-``, never starts with a dot, and is at most
`_MAX_CHARS` long; what had to be changed to get there is told apart by a digest, so two variants
never share a folder and none can leave the directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from stagebench.model import ParamValue, Scalar, Variant

_UNSAFE = re.compile(r"[^A-Za-z0-9._=,+-]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*")
_CONSTANTS = ("true", "false", "none", "nan", "inf")
_MAX_CHARS = 120
_DIGEST_CHARS = 8


def variant_folder(variant: Variant, chosen: Iterable[str], *, by_compiler: bool = False) -> str:
    """The relative folder of a variant; ``chosen`` are the parameters that the user set.

    ``by_compiler``: the run has several, and so the folder names its own.
    """
    axes = [f"num_stages={_text(variant.params.get('num_stages', 'as-written'))}"]
    axes += [
        f"{name}={_text(variant.params[name])}"
        for name in sorted(set(chosen))
        if name in variant.params and name != "num_stages"
    ]
    axes += [f"{key}={_text(value)}" for key, value in sorted(variant.pass_configs.items())]
    if by_compiler:
        axes.append(f"compiler={variant.compiler.name}=={variant.compiler.version}")
    return "/".join(_safe(part) for part in (variant.kernel, variant.arch, ",".join(axes)))


def _text(value: ParamValue | Scalar) -> str:
    """The value's text; quoted, and so told apart by the digest, where it reads as another value.

    Tuples of two or more numbers are ``64x64``; words are as they are; ``'1'`` is not ``1``.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        numbers = all(type(item) in (int, float) for item in value)
        return "x".join(map(str, value)) if numbers and len(value) > 1 else repr(value)
    if isinstance(value, str) and (not _WORD.fullmatch(value) or value.lower() in _CONSTANTS):
        return repr(value)
    return str(value)


def _safe(part: str) -> str:
    plain = part.replace(".py:", ".")
    clean = _UNSAFE.sub("_", plain).strip(".") or "_"
    if clean == plain and len(clean) <= _MAX_CHARS:
        return clean
    digest = sha256(part.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{clean[: _MAX_CHARS - _DIGEST_CHARS - 1]}-{digest}"
