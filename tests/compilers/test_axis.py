"""How do several compilers of one run show: in tables, folders and selectors?"""

from pathlib import Path

import msgspec
import pytest

from stagebench.dump.directory import DumpDirectory
from stagebench.dump.files import read_dump
from stagebench.dump.folder_name import variant_folder
from stagebench.dump.select import select_dump
from stagebench.errors import UsageError
from stagebench.model import Compiler, Failure, Run
from stagebench.report.sweep_rows import sweep_tables
from stagebench.report.sweep_view import table_lines

DUMPS = Path(__file__).parents[1] / "diffing" / "data" / "gemm"


def by(version, depth=2, arch="sm_80", name="tilelang"):
    """A recorded result under another compiler's name."""
    dump = read_dump(DUMPS / arch / f"num_stages={depth}")
    compiler = Compiler(name=name, version=version)
    variant = msgspec.structs.replace(dump.result.variant, compiler=compiler)
    return msgspec.structs.replace(dump.result, variant=variant), dump.kernel_cu


def run_of(*pairs):
    return Run(variants=tuple(result for result, _ in pairs)), [text for _, text in pairs]


def named_2(pair):
    """A depth-3 result that claims to be depth 2: another compiler's idea of it."""
    result, text = pair
    params = {**result.variant.params, "num_stages": 2}
    variant = msgspec.structs.replace(result.variant, params=params)
    return msgspec.structs.replace(result, variant=variant), text


def test_one_table_for_each_depth():
    """Compilers are its columns; only what differs between them is a row."""
    run, texts = run_of(by("1.0"), by("1.0", 3), named_2(by("2.0", 3)), by("2.0", 3))
    two, three = sweep_tables(run, texts)
    assert (two.axis, two.columns) == ("compiler", ("1.0", "2.0"))
    assert two.parameters[0] == "num_stages=2"
    shown = {row.label: [cell.text for cell in row.cells] for row in two.folded()[0]}
    assert shown["cp_async_wait"] == ["2 · 16", "3 · 16"]
    assert two.headline == ()
    (note,) = three.headline
    assert note.text == "identical code, byte for byte: no difference"
    assert note.depths == "1.0, 2.0"


def test_compilers_that_agree_are_a_line():
    """That they do is all that was asked: no table of facts, unless it is asked for."""
    run, texts = run_of(by("1.0"), by("2.0"))
    (table,) = sweep_tables(run, texts)
    lines = [line.plain for line in table_lines(table, 100)]
    assert lines[0].startswith("gemm · sm_80 · num_stages=2, 1024³")
    assert lines[0].endswith(" · tilelang")
    assert lines[1] == "= 1.0, 2.0  identical code, byte for byte: no difference"
    assert lines[2].startswith("– unchanged: scheduled by software pipeline")
    assert len(lines) == 3
    assert len(table_lines(table, 100, show_all=True)) > 10


def test_a_compiler_that_is_not_there_is_a_column():
    """Its cells say so; the other's facts are all there."""
    result, _ = by("2.0")
    lost = msgspec.structs.replace(
        result, outcome="failed", facts=None,
        failure=Failure(kind="no_compiler", message="tilelang==2.0 is not here"),
    )  # fmt: skip
    run, texts = run_of(by("1.0"), (lost, None))
    (table,) = sweep_tables(run, texts)
    assert [cell.text for cell in table.rows[0].cells] == ["lowered", "✗ no compiler"]
    assert table.notes[0].text == "no compiler: tilelang==2.0 is not here"
    assert table.notes[0].depths == "2.0"


def test_two_names_are_both_said():
    """A version alone would not tell two compilers apart."""
    run, texts = run_of(by("1.0"), by("1.0", name="othercc"))
    (table,) = sweep_tables(run, texts)
    assert table.headline[0].depths == "tilelang 1.0, othercc 1.0"


def test_one_compiler_has_the_table_of_depths():
    """Nothing changes where there is one."""
    run, texts = run_of(by("1.0"), by("1.0", 3))
    (table,) = sweep_tables(run, texts)
    assert (table.axis, table.columns, table.compiler) == ("num_stages", ("2", "3"), "tilelang 1.0")


def test_folders_and_selectors(tmp_path):
    """Each compiler's dump has a folder of its own, found by release or version."""
    directory = DumpDirectory(tmp_path, by_compiler=True)
    folders = [directory.write(by(v)[0], (), by(v)[1], None) for v in ("0.1.14", "0.1.15")]
    directory.finish(tuple(folders), {})
    assert folders[0] == "gemm/sm_80/num_stages=2,compiler=tilelang==0.1.14"
    for text in ("0.1.15", "tilelang==0.1.15"):
        dump = select_dump(f"{tmp_path}[compiler={text}]")
        assert dump.result.variant.compiler.version == "0.1.15"
    with pytest.raises(UsageError) as caught:
        select_dump(str(tmp_path))
    assert "compiler=tilelang==0.1.14; compiler=tilelang==0.1.15" in caught.value.hint


def test_a_run_of_one_compiler_keeps_its_folders():
    """Names in run folders and among baselines do not change."""
    assert variant_folder(by("1.0")[0].variant, ()) == "gemm/sm_80/num_stages=2"
