"""A project as a user has it: a kernel, an experiment, baselines; and variations of its kernel."""

from pathlib import Path

from stagebench.cli import main

KERNEL = Path(__file__).parents[1].joinpath("sweeping/kernels/small.py").read_text()
KERNEL = KERNEL.replace("from small_tiles import TILE", "TILE = 64").replace("small_gemm", "tiny")
EDITED = "# a comment that moves every line\n\n" + KERNEL
for _old, _new in (
    ("lhs", "left_tile"),
    ("acc", "zed"),
    ("kernel", "renamed"),
    ("for k in", "for q in"),
    ("k * 32", "q * 32"),
):
    EDITED = EDITED.replace(_old, _new)
_BODY = "    @T.prim_func"
FAILING = KERNEL.replace(_BODY, f'    raise ValueError("a tile of 0 rows")\n\n{_BODY}')
EXPERIMENT = """\
from stagebench import Case, Experiment, expect

EXPERIMENT = Experiment(
    question="Does the tiny GEMM keep its pipeline?",
    cases=[Case(kernel="../kernels/tiny.py:tiny", num_stages={depths}, arch="sm_90a"{case})],
    expectations=[
        expect("one version a stage", lambda v: v.buffers[0].num_versions == v.num_stages),
    ],
    policy={policy},
)
"""


class Project:
    """A folder with ``kernels/``, ``experiments/tiny.py`` and, once accepted, ``dumps/``."""

    def __init__(self, root):
        self.root = root
        self.dumps = root / "dumps"
        (root / "kernels").mkdir(parents=True)
        (root / "experiments").mkdir()
        (root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
        self.kernel(KERNEL)
        self.experiment()

    def kernel(self, text, name="tiny"):
        (self.root / "kernels" / f"{name}.py").write_text(text)

    def experiment(self, depths=(2, 3), case="", policy=None, name="tiny", text=EXPERIMENT):
        path = self.root / "experiments" / f"{name}.py"
        path.write_text(text.format(depths=list(depths), case=case, policy=policy or {}))
        return path

    def state(self):
        """Every file of the baselines with its bytes."""
        return {
            path.relative_to(self.dumps).as_posix(): path.read_bytes()
            for path in sorted(self.dumps.rglob("*"))
            if path.is_file()
        }


def run(capsys, *arguments):
    """One command in this process: exit code, standard output, standard error."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as exc:
        code = exc.code
    said = capsys.readouterr()
    return code, said.out, said.err
