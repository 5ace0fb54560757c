"""Does a sweep fit its width, and does it read without colour?"""

import io

import msgspec
import pytest
from rich.console import Console

from stagebench.model import Diagnostic, Run
from stagebench.report.console import PIPE_WIDTH, open_console
from stagebench.report.sweep_rows import sweep_tables
from stagebench.report.sweep_view import (
    print_sweep,
    summary_line,
    table_lines,
    without_machine_code,
)

ALL = ["gemm_sm80", "gemm_sm90a", "attention", "nested", "refill", "overflow", "failing"]


def rendered(run, texts, width=100, **options):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_sweep(run, kernel_cus=texts, console=console, **options)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("show_all", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_no_line_is_wider_than_the_console(recorded, name, show_all, width):
    """Nor has one trailing blanks."""
    for line in rendered(*recorded(name), width=width, show_all=show_all).splitlines():
        assert len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("name", ALL)
def test_four_depths_are_one_table_at_100_columns(recorded, name):
    """The head with the depths is printed once per table."""
    run, texts = recorded(name)
    few = [i for i, v in enumerate(run.variants) if v.variant.num_stages <= 4]
    run, texts = Run(variants=tuple(run.variants[i] for i in few)), [texts[i] for i in few]
    for table in sweep_tables(run, texts):
        lines = [line.plain for line in table_lines(table, 100)]
        assert sum(line.startswith("num_stages") for line in lines) == 1


def test_columns_that_do_not_fit_continue_below_with_the_labels(recorded):
    """Every depth has a column in exactly one of the parts."""
    run, texts = recorded("gemm_sm90a")
    (table,) = sweep_tables(run, texts)
    heads = [
        line.plain.split()[1:]
        for line in table_lines(table, 60)
        if line.plain.startswith("num_stages")
    ]
    assert len(heads) > 1
    assert [depth for head in heads for depth in head] == ["0", "1", "2", "3", "4"]


def test_the_gemm_on_ampere_looks_like_this(recorded):
    """What a kernel author sees of the default sweep."""
    assert rendered(*recorded("gemm_sm80"), elapsed_seconds=5.12, from_cache=3, dump_dir="d") == (
        """\
gemm · sm_80 · 1024³, tile 128×128×64, 128 threads, float16 · tilelang 0.1.15
num_stages                1           2            3                  4
────────────────────────  ──────────  ───────────  ─────────────────  ──────────
stage                     0 0 1       0 0 1        0 0 2              0 0 3
order                     1 2 0       0 1 2        0 1 2              0 1 2
versions of A_shared,     1 × 16 KiB  2 × 16 KiB   3 × 16 KiB         4 × 16 KiB
B_shared
shared memory / 163 KiB   32 KiB      64 KiB       96 KiB             128 KiB
call sites · executed
cp_async_copy             4 · 256     4 · 256      6 · 256            8 · 256
cp_async_commit           2 · 16      2 · 16       3 · 16             4 · 16
cp_async_wait             2 · 16      2 · 16       3 · 16             4 · 16
cp_async_wait <pending>   <0>×2       <1>×1 <0>×1  <2>×1 <1>×1 <0>×1  <3…0>×1
mma_sync                  4 · 2048    4 · 2048     6 · 2048           8 · 2048
syncthreads               3 · 31      3 · 31       4 · 30             5 · 29
– unchanged: scheduled by software pipeline, pass tl.PipelinePlanning, threads 128 … +2 more –

4 variants: 4 lowered, 0 failed · 5.1 s · 3 from cache · dumps in d
"""
    )


def test_parameters_that_do_not_fit_have_a_line_of_their_own(recorded):
    """They identify the table: they are not cut while there is room."""
    lines = rendered(*recorded("failing", "sm_90a")).splitlines()
    assert lines[0] == "k04_read_after_loop.py:last_tile_epilogue · sm_90a · tilelang 0.1.15"
    assert lines[1] == "  K=256, M=256, N=256, bk=32, bm=64, bn=64"


def test_failures_look_like_this(recorded):
    """Crosses in the columns, one line per distinct failure under the table."""
    text = rendered(*recorded("failing", "sm_90a"))
    assert "outcome                  lowered  lowered              ✗ compile error" in text
    assert "✗ depths 2–3  compile error in tl.ProducerConsumerWarpSpecialized: Internal" in text
    assert text.endswith("4 variants: 2 lowered, 2 failed\n")


def test_changed_cells_are_yellow_and_what_cannot_run_is_red(recorded):
    """Colour only repeats what the text says."""
    run, texts = recorded("overflow", "sm_80")
    (table,) = sweep_tables(run, texts)
    styles = {
        line.plain[span.start : span.end].strip(): str(span.style)
        for line in table_lines(table, 120)
        for span in line.spans
    }
    assert styles["192 KiB > 163"] == "bold red"
    assert styles["144 KiB"] == "bold yellow"


def test_nothing_in_the_data_is_read_as_markup(recorded):
    """A name with brackets is printed as it is."""
    run, texts = recorded("gemm_sm80")
    named = [
        msgspec.structs.replace(
            result, variant=msgspec.structs.replace(result.variant, kernel="[red]k[/red].py:f")
        )
        for result in run.variants
    ]
    assert "[red]k[/red].py:f" in rendered(Run(variants=tuple(named)), texts)


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({}, False),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, True),
    ],
)
def test_colour_follows_the_environment(recorded, monkeypatch, environment, coloured):
    """A pipe is plain unless colour is forced, and has a width of its own."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    console = open_console(io.StringIO())
    run, texts = recorded("gemm_sm80")
    print_sweep(run, kernel_cus=texts, console=console)
    assert console.width == PIPE_WIDTH
    assert ("\x1b[1;33m" in console.file.getvalue()) is coloured
    assert ("\x1b" in console.file.getvalue()) is coloured


def test_an_encoding_without_our_signs_gets_plain_ones(recorded):
    """No report ends in a UnicodeEncodeError."""
    raw = io.BytesIO()
    console = open_console(io.TextIOWrapper(raw, encoding="ascii"))
    run, texts = recorded("gemm_sm80")
    print_sweep(run, kernel_cus=texts, console=console)
    console.file.flush()
    assert b"gemm | sm_80 | 1024^3, tile 128x128x64" in raw.getvalue()


def test_the_closing_line_leaves_out_what_is_not_known():
    """No cache hit, no dumps, no time: nothing is said of them."""
    assert (
        summary_line(variants=1, failed=1, elapsed_seconds=None, from_cache=0, dump_dir=None)
        == "1 variant: 0 lowered, 1 failed"
    )


def test_a_variant_that_is_lowered_and_not_assembled_is_counted(recorded):
    """The closing line says how many have no machine code; a warning of another kind is none."""
    run, _ = recorded("gemm_sm80")
    first = run.variants[0]

    def saying(code):
        said = Diagnostic(severity="error", code=code, message="m", evidence=())
        facts = msgspec.structs.replace(first.facts, diagnostics=(said,))
        return msgspec.structs.replace(first, facts=facts)

    assert without_machine_code(saying("not-assembled"))
    assert without_machine_code(saying("machine-code-not-read"))
    assert not without_machine_code(saying("spills"))
    console = Console(file=io.StringIO(), width=100)
    print_sweep(msgspec.structs.replace(run, variants=(saying("not-assembled"),)), console=console)
    closing = console.file.getvalue().strip().splitlines()[-1]
    assert closing == "1 variant: 1 lowered, 0 failed, 1 without machine code"
