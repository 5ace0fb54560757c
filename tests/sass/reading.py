"""Read a committed disassembly."""

from pathlib import Path

from stagebench.sass.control_flow import control_flow
from stagebench.sass.read import read_sass
from stagebench.sass.sites import sync_sites

DATA = Path(__file__).parent / "data"


def text(name):
    return (DATA / f"{name}.sass").read_text()


def read(name, function="k"):
    return read_sass(text(name), function)


def sites(name, function="k", ptx_ops=None):
    return sync_sites(control_flow(read(name, function)), ptx_ops)


def ops_by_ptx(name, ptx_ops=None):
    """What stands for each PTX statement: its text to the ops at its line, in program order."""
    lines = (DATA / f"{name}.ptx").read_text().split("\n")
    found = {}
    for site in sites(name, ptx_ops=ptx_ops):
        found.setdefault(lines[site.ptx_line - 1], []).append(site.op)
    return {statement: tuple(ops) for statement, ops in found.items()}
