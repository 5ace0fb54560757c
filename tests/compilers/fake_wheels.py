"""An index that is a folder: wheels of a few lines, named like a compiler and what goes with it."""

import zipfile


def wheel(folder, name, version, *, code="x = 1\n", requires=()):
    """Write one wheel; the package is named like the distribution's import name."""
    imported = {"apache-tvm-ffi": "tvm_ffi", "z3-solver": "z3", "apache-tvm": "tvm"}
    package = imported.get(name, name)
    stem = f"{name.replace('-', '_')}-{version}"
    demands = "".join(f"Requires-Dist: {line}\n" for line in requires)
    info = f"{stem}.dist-info"
    files = {
        f"{package}/__init__.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{demands}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


def unpacked(folder, name, version, *, code="x = 1\n"):
    """Unpack a wheel as pip does; what it is, as an overlay's list says it."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel(folder, name, version, code=code)
    (packed,) = folder.glob("*.whl")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    packed.unlink()
    return {name: version}


def release(folder, version, *, code="x = 1\n", ffi="apache-tvm-ffi<3,>=2", z3="z3-solver>=1"):
    """Write a compiler's wheel that demands two others."""
    wheel(folder, "tilelang", version, code=code, requires=(ffi, z3, 'torch; extra == "x"'))
