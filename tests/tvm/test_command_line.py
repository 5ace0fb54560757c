"""Apache TVM behind ``--compiler``, as a user types it."""

import json
import re
from pathlib import Path

import pytest

from stagebench.lowering import compiler_environment
from stagebench.lowering.compiler_choice import parse_choice
from tests.command_line import stagebench
from tests.tvm.lowering import needs_tvm

ROOT = Path(__file__).parents[2]
SAME_GEMM = ("--set", "block_M=64", "block_N=64", "block_K=32", "M=256", "N=256", "K=256")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """One sweep of both compilers: its table, its JSON and the folder of its dumps."""
    folder = tmp_path_factory.mktemp("both")
    ran = stagebench(
        "sweep", "gemm", "--compiler", "tilelang", "tvm", "--num-stages", 1, 2, "--arch", "sm_80",
        *SAME_GEMM, "--json", "run.json", "--dump-dir", "run", cwd=folder,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    return folder, ran.out


def rows(table):
    """The cells of each row by its label."""
    found = [re.split(r"\s{2,}", line) for line in table.splitlines()]
    return {cells[0]: cells[1:] for cells in found if len(cells) == 3}


class TestSweep:
    pytestmark = [*needs_tvm, pytest.mark.tilelang]  # noqa: RUF012 - pytest wants a list

    def test_two_compilers_are_one_table_for_each_depth(self, both):
        """Their columns stand side by side, though their parameters are not the same."""
        one, two, _ = both[1].split("\n\n")
        assert one.startswith("gemm · sm_80 · num_stages=1, 256³, tile 64×64×32")
        assert rows(one)["compiler"] == ["tilelang 0.1.15", "tvm 0.25.0.post1"]
        assert rows(one)["tir_pipeline="] == ["–", "s_tir"]
        assert rows(one)["cp_async_copy"][1] == "0"
        assert rows(one)["stage"] == ["0 0 1", "0 0 0"]
        assert "stage 0 0 1, order 0 1 2" in two.partition("– unchanged:")[2]
        assert "cp_async_commit" not in rows(two)

    def test_json_names_both(self, both):
        """Each variant says by whom, and what was asked of it."""
        run = json.loads((both[0] / "run.json").read_text())
        said = [
            (v["variant"]["compiler"]["name"], v["variant"]["params"]["num_stages"], v["outcome"])
            for v in run["variants"]
        ]
        assert said == [
            ("tilelang", 1, "lowered"), ("tilelang", 2, "lowered"),
            ("tvm", 1, "lowered"), ("tvm", 2, "lowered"),
        ]  # fmt: skip

    def test_depth_1_means_plain_copies_or_a_wait_for_all(self, both):
        """The same GEMM at depth 1: TileLang waits for its cp.async at once, TVM has none."""
        ran = stagebench(
            "diff", "run[compiler=tilelang,num_stages=1]", "run[compiler=tvm,num_stages=1]",
            "--json", cwd=both[0],
        )  # fmt: skip
        assert ran.code == 1, ran.err
        run = json.loads((both[0] / "run.json").read_text())
        tilelang, _, tvm, _ = (v["facts"] for v in run["variants"])
        waits = [
            op["args"]["max_pending"] for op in tilelang["sync_ops"] if op["op"] == "cp_async_wait"
        ]
        assert waits == [0, 0]
        assert not [op for op in tvm["sync_totals"] if op.startswith("cp_async")]
        changed = {change["path"]: change for change in ran.json["facts"]}
        copies = changed["sync_totals[cp_async_copy].static"]
        assert (copies["left"], copies["right"]) == (4, 0)

    def test_passes_and_explain(self, both):
        """The timeline of passes and the explanation are there for TVM's dumps too."""
        ran = stagebench("passes", "run[compiler=tvm,num_stages=2]", cwd=both[0])
        assert ran.code == 0
        assert "s_tir.InjectPTXAsyncCopy" in ran.out
        ran = stagebench("explain", "run[compiler=tvm,num_stages=2]", cwd=both[0])
        assert ran.code == 0
        assert "tvm 0.25.0.post1" in ran.out

    @pytest.mark.parametrize("compiler", ["tilelang", "tvm"])
    def test_scripts(self, both, compiler):
        """The module as written, as code is generated from it, and the CUDA, of either compiler."""
        texts = {}
        for which in ("before", "after", "cuda"):
            ran = stagebench(
                "explain", f"run[compiler={compiler},num_stages=2]", "--script", which, cwd=both[0]
            )
            assert ran.code == 0, ran.err
            texts[which] = ran.out
        stored = [file.read_text() for file in (both[0] / "run").rglob("kernel.cu")]
        assert texts["cuda"] in stored  # to the last line feed
        assert 'launch_thread("blockIdx.x"' not in texts["before"]
        assert 'launch_thread("blockIdx.x", 4)' in texts["after"]
        assert ("cp_async(" in texts["before"], "cp_async(" in texts["after"]) == (False, True)
        kernel = "gemm_kernel_kernel" if compiler == "tilelang" else "main_kernel"
        assert f"def {kernel}(" in texts["after"]
        assert f"{kernel}(" in texts["cuda"]

    def test_a_kernel_that_only_tvm_has(self, tmp_path):
        """Says with which compiler it is lowered."""
        ran = stagebench("sweep", "gemm_tirx", "--no-dumps", cwd=tmp_path)
        assert ran.code == 2
        assert "--compiler tvm" in ran.err

    def test_a_kernel_of_tilelang_s(self, tmp_path):
        """Says with which compiler it is lowered; one that can do without TileLang is lowered."""
        path = tmp_path / "kernel.py"
        path.write_text("import tilelang\n\n\ndef f(num_stages=1):\n    return None\n")
        ran = stagebench("sweep", f"{path}:f", "--compiler", "tvm", "--no-dumps", cwd=tmp_path)
        assert ran.code == 2
        assert "imports tilelang" in ran.err
        assert "--compiler tilelang" in ran.err
        path.write_text(
            "try:\n    import tilelang\nexcept ImportError:\n    pass\n\n"
            "from stagebench.kernels.tvm_tirx import gemm_tirx as f\n"
        )
        ran = stagebench(
            "sweep", f"{path}:f", "--compiler", "tvm", "--no-dumps", "--arch", "sm_80",
            "--num-stages", 2, cwd=tmp_path,
        )  # fmt: skip
        assert ran.code == 0, ran.out + ran.err

    def test_pipeline(self, tmp_path):
        """``--pipeline`` is the pass config's short name; a name that is none is a usage error."""
        ran = stagebench(
            "sweep", "gemm_tirx", "--compiler", "tvm", "--pipeline", "tirx", "--num-stages", 2,
            "--arch", "sm_80", "--no-dumps", "--json", "-", cwd=tmp_path,
        )  # fmt: skip
        assert ran.code == 0, ran.err
        (only,) = ran.json["variants"]
        assert only["variant"]["pass_configs"] == {"tir_pipeline": "tirx"}
        ran = stagebench(
            "sweep", "gemm_tirx", "--compiler", "tvm", "--pipeline", "llvm", cwd=tmp_path
        )
        assert ran.code == 2
        assert "s_tir, tirx" in ran.err


def test_names():
    """The distribution's name means the same compiler as the package's."""
    assert str(parse_choice("tvm==0.25.0.post1")) == "tvm==0.25.0.post1"
    assert parse_choice("apache-tvm") == parse_choice("tvm")


@pytest.mark.tilelang
def test_tvm_that_is_not_installed_fails_its_own_variants(monkeypatch):
    """The others lower; its cells say what installs it."""
    from stagebench.experiment.sweep import SweepOptions, run_sweep
    from stagebench.experiment.sweep_plan import SweepPlan

    found = compiler_environment.find_distribution

    def without_tvm(name, folders):
        return None if name == "apache-tvm" else found(name, folders)

    monkeypatch.setattr(compiler_environment, "find_distribution", without_tvm)
    plan = SweepPlan(num_stages=(2,), archs=("sm_80",), compilers=("tilelang", "tvm"))
    ours, lost = run_sweep(plan, SweepOptions()).run.variants
    assert ours.outcome == "lowered"
    assert (lost.failure.kind, lost.variant.compiler.name) == ("no_compiler", "tvm")
    assert "apache-tvm is not installed" in lost.failure.message
    assert "stagebench[tvm]" in lost.failure.detail


class TestTheOtherCompilersFile:
    """A kernel that is lowered by the wrong compiler says which one is right."""

    pytestmark = [*needs_tvm, pytest.mark.tilelang]  # noqa: RUF012 - pytest wants a list

    def test_apache_tvms_by_tilelang(self, tmp_path):
        """Alone it is wrong usage; beside Apache TVM it costs TileLang's cells."""
        kernel = f"{ROOT / 'experiments/kernels/tvm_ladder.py'}:elementwise"
        alone = stagebench("sweep", kernel, "--arch", "sm_80", "--no-dumps", cwd=tmp_path)
        assert (alone.code, "tvm_ladder.py is Apache TVM's" in alone.err) == (2, True)
        assert "hint: add --compiler tvm" in alone.err
        both = stagebench(
            "sweep", kernel, "--arch", "sm_80", "--compiler", "tilelang", "tvm", "--json", "-",
            cwd=tmp_path,
        )  # fmt: skip
        assert both.code == 3, both.err
        by = {v["variant"]["compiler"]["name"]: v for v in json.loads(both.out)["variants"]}
        assert by["tvm"]["outcome"] == "lowered"
        assert "Apache TVM's (it imports tvm.script" in by["tilelang"]["failure"]["message"]

    def test_tilelangs_by_apache_tvm(self, tmp_path):
        """The other way round too."""
        kernel = f"{ROOT / 'experiments/kernels/staged_gemm.py'}:staged_gemm"
        done = stagebench(
            "sweep", kernel, "--arch", "sm_80", "--num-stages", 2, "--compiler", "tvm", cwd=tmp_path
        )
        assert (done.code, "the kernel's file imports tilelang" in done.err) == (2, True)
        assert "--compiler tilelang lowers it" in done.err

    def test_a_pipeline_is_apache_tvms(self, tmp_path):
        """Beside TileLang it costs nothing; without Apache TVM it is wrong usage."""
        words = ("sweep", "gemm", "--num-stages", 1, "--arch", "sm_80", "--pipeline", "s_tir")
        alone = stagebench(*words, cwd=tmp_path)
        assert (alone.code, "--pipeline chooses Apache TVM's passes" in alone.err) == (2, True)
        both = stagebench(
            *words, "--compiler", "tilelang", "tvm", *SAME_GEMM, "--json", "-", cwd=tmp_path
        )
        assert both.code == 0, both.err
        assert [v["variant"]["pass_configs"].get("tir_pipeline")
                for v in json.loads(both.out)["variants"]] == [None, "s_tir"]  # fmt: skip
