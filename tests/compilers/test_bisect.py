"""Does halving find the neighbours that differ, with few looks, and say what has no answer?"""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from stagebench.commands.bisect import add_arguments
from stagebench.diff.fact_change import FactChange
from stagebench.diff.fact_words import from_to
from stagebench.diff.pass_compare import changes_with_since
from stagebench.dump.atomic_file import write_folder
from stagebench.dump.files import dump_files, read_dump
from stagebench.dump.snapshots import pack
from stagebench.errors import MachineError, UsageError
from stagebench.experiment import sweep as sweep_module
from stagebench.experiment.bisecting import Candidate, bisect, candidates
from stagebench.experiment.bisecting_axes import axis_values
from stagebench.experiment.bisecting_watched import Watched, differing, seen
from stagebench.experiment.sweep import SweepOptions
from stagebench.experiment.sweep_plan import SweepPlan
from stagebench.kernels import BUILTINS, TVM_BUILTINS
from stagebench.model import Failure
from stagebench.model.bisection import Bisection
from stagebench.report.bisect_view import Sides, bisection_lines, pass_lines, print_bisection
from stagebench.worker.protocol import Lowered, Raised, Rejected, Times
from tests.command_line import stagebench
from tests.lowering.fake_compiler import environment

DUMPS = Path(__file__).parents[1] / "diffing" / "data" / "gemm"
WHERE = "tl.LayoutInference"
FACT = Watched(fact="shared_memory.dynamic_bytes")


def dump(arch="sm_90a", depth=2):
    return read_dump(DUMPS / arch / f"num_stages={depth}")


def raised(message="no layout\nmore"):
    """What a worker replies where the compiler raises."""
    return Raised(
        variant=dump().result.variant,
        where="compiler",
        error="InternalError",
        message=message,
        file=None,
        line=None,
        pass_name=WHERE,
        out_of_memory=False,
        diagnostics=(),
        module_files=(),
    )


def failed():
    failure = Failure(kind="compile_error", message="no layout", pass_name=WHERE)
    result = dump().result
    return msgspec.structs.replace(result, outcome="failed", failure=failure, facts=None)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Points by number: the bytes of each, ``None`` for a compiler that is not there.

    All is real but the compiler: a worker process of a few lines, which answers by depth.
    """
    return World(tmp_path, monkeypatch)


class World:
    """A place where compilers are faked; ``looked`` are the points, in the order of the looks."""

    def __init__(self, folder, monkeypatch):
        self.looked = []
        self._folder = folder
        self._values = []
        monkeypatch.setattr(sweep_module, "choose_compilers", self._choose)

    def run(self, values, watched=FACT, axis="compiler", every=False):
        plan = SweepPlan(archs=("sm_90a",))
        points = [
            Candidate(str(at), replace(plan, num_stages=(at,), compilers=(str(at),)))
            for at in range(len(values))
        ]
        return self.bisect(points, dict(enumerate(values)), watched, axis, every=every)

    def bisect(self, points, values, watched=FACT, axis="compiler", every=False):
        """Bisect where the variant of each depth has these values."""
        self._values = values
        replies = {str(depth): self._reply(value) for depth, value in values.items()}
        (self._folder / "replies").write_bytes(msgspec.json.encode(replies))
        options = SweepOptions(use_cache=False, jobs=1)
        return bisect(
            axis, points, watched, options, self._folder / "dumps", lambda _: None, every=every
        )

    def log(self, name):
        """The lines of what the workers did: ``starts``, or the ``depths`` that they lowered."""
        place = self._folder / name
        return place.read_text().split() if place.exists() else []

    def _choose(self, texts, *_, **__):
        for text in texts:
            self.looked.append(int(text))
            if self._values[int(text)] is None:
                raise MachineError("it is not here")
        return (environment(self._folder, WORKER.format(folder=self._folder)),)

    def _reply(self, value):
        if value is None or isinstance(value, Rejected | Raised):
            return value
        result = value if not isinstance(value, int) else self.of(value)
        return Lowered(
            variant=result.variant,
            facts=result.facts,
            kernel_cu="cuda",
            snapshots=pack({}),
            times=Times(load=0, lower=0, observe=0, facts=0, passes=()),
            module_files=(),
        )

    def of(self, dynamic_bytes):
        result = dump().result
        memory = msgspec.structs.replace(result.facts.shared_memory, dynamic_bytes=dynamic_bytes)
        facts = msgspec.structs.replace(result.facts, shared_memory=memory)
        return msgspec.structs.replace(result, facts=facts)


WORKER = """
def note(name, text):
    with open("{folder}/" + name, "a") as file:
        file.write(text + " ")
note("starts", "1")
hello()
for job, request in jobs():
    note("depths", str(request["num_stages"]))
    with open("{folder}/replies") as file:
        say("done", job=job, reply=json.load(file)[str(request["num_stages"])])
"""


@pytest.mark.parametrize("changed", [1, 2, 7, 15])
def test_it_finds_the_first_that_differs(world, changed):
    """Wherever it is, in as many looks as halving takes beside the two ends."""
    done = world.run([10] * changed + [20] * (16 - changed))
    found = done.found
    assert found.points[found.left].name == str(changed - 1)
    assert found.points[found.right].name == str(changed)
    assert (found.points[found.left].value, found.points[found.right].value) == ("10", "20")
    assert len(world.looked) <= 2 + 4
    assert len(set(world.looked)) == len(world.looked), "each point is lowered once"
    left, right = done.sides
    assert left.result.facts.shared_memory.dynamic_bytes == 10
    assert right.result.facts.shared_memory.dynamic_bytes == 20


def test_ends_that_are_alike(world):
    """Nothing to find, and nothing between is lowered."""
    done = world.run([10, 20, 10])
    assert (done.found.left, done.found.right, done.sides) == (None, None, None)
    assert world.looked == [0, 2]


def test_a_failure_may_be_what_is_sought(world):
    """A variant that fails differs from one that lowers."""
    done = world.run([10, 10, raised(), raised()])
    assert done.found.points[done.found.right].name == "2"
    assert done.found.points[done.found.right].value == (
        "failed: compile_error in tl.LayoutInference: InternalError: no layout"
    )


@pytest.mark.parametrize("every", [False, True])
def test_ends_that_both_fail_alike(world, every):
    """No fact was compared: an error that quotes what was said, and not that they are alike."""
    with pytest.raises(UsageError) as caught:
        world.run([raised("my own mistake")] * 3, every=every)
    assert caught.value.message == (
        "neither 0 nor 2 lowers: failed: compile_error in tl.LayoutInference: "
        "InternalError: my own mistake"
    )
    assert world.run([raised()] * 2, Watched(fact="outcome")).sides is None
    assert world.run([raised()] * 2, Watched(until="outcome == 'failed'")).sides is None


def test_a_point_between_two_failures_that_lowers(world):
    """Looked at all points there is something to tell."""
    done = world.run([raised(), 10, raised()], every=True)
    assert (done.found.left, done.found.right, done.found.again) == (0, 1, (2,))


def test_two_failures_that_differ(world):
    """Which of the two came when is an answer."""
    done = world.run([raised("one"), raised("one"), raised("two")])
    assert done.found.points[done.found.right].name == "2"


def test_a_worker_stays_for_all_points(world):
    """One compiler, one import: on every axis but that of compilers."""
    points = candidates("num_stages", ["1", "2", "3", "4"], SweepPlan(archs=("sm_90a",)))
    done = world.bisect(points, {1: 10, 2: 10, 3: 20, 4: 30}, axis="num_stages", every=True)
    assert [point.value for point in done.found.points] == ["10", "10", "20", "30"]
    assert world.log("depths") == ["1", "4", "2", "3"]
    assert world.log("starts") == ["1"]


def test_a_depth_that_nobody_gave(world):
    """It is 2, or the kernel's own: one variant at each point, and not four."""
    points = candidates("pass-config", ["a.x=true"], SweepPlan(archs=("sm_90a",)))
    world.bisect(points, {2: 10}, axis="pass-config")
    assert world.log("depths") == ["2", "2"]
    none = Rejected(code="no-depth", message="no parameter", hint=None)
    done = world.bisect(points, {2: none, None: 10}, axis="pass-config")
    assert world.log("depths") == ["2", "2", "2", "None", "2", "None"]
    assert done.sides is None


@pytest.mark.parametrize(
    ("axis", "plan", "message"),
    [
        ("compiler", {"num_stages": (2, 3)}, "--num-stages has 2 values"),
        ("pass-config", {"num_stages": (1, 2, 3, 4)}, "--num-stages has 4 values"),
        ("num_stages", {"compilers": ("tilelang", "tvm")}, "--compiler has 2 values"),
        ("compiler", {"archs": ("sm_80", "sm_90a")}, "--arch has 2 values"),
        ("compiler", {"params": {"M": (1, 2)}}, "--set M has 2 values"),
    ],
)
def test_it_follows_one_variant(axis, plan, message):
    """What has several values is named with its flag."""
    with pytest.raises(UsageError, match=f"bisect follows one variant: {message}"):
        candidates(axis, ["1", "2"], SweepPlan(**{"archs": ("sm_80",), **plan}))


def test_a_point_is_there_once():
    """Two that are the same are always alike."""
    with pytest.raises(UsageError, match="--num-stages has 2 twice"):
        candidates("num_stages", ["2", "3", "2"], SweepPlan(archs=("sm_80",)))
    with pytest.raises(UsageError, match=r"--compiler has tilelang==0\.1\.9 twice"):
        candidates("compiler", ["tilelang==0.1.9"] * 2, SweepPlan(archs=("sm_80",)))


def test_a_point_without_an_answer_is_left_out(world):
    """A release that is not here could be the one: it is named beside the one that is found."""
    done = world.run([10, 10, None, 20])
    assert done.found.between == ("2",)
    assert [point.name for point in done.found.points] == ["0", "1", "2", "3"]
    lines = [line.plain for line in bisection_lines(done.found, 100)]
    assert lines[-1] == "changed in 3: 10 → 20 (or in 2, which has no answer)"


def test_an_end_without_an_answer(world):
    """There is nothing to compare with: another end has to be named."""
    with pytest.raises(UsageError, match="0 has no answer: it is not here"):
        world.run([None, 10, 20])


def test_a_compiler_that_works_for_no_point(world):
    """On another axis than that of compilers no other end would help: its own error ends it."""
    with pytest.raises(MachineError, match=r"^it is not here$"):
        world.run([None, None], axis="num_stages")


def test_what_is_shown(world):
    """Every point that was looked at, and which two are the neighbours."""
    done = world.run([10, 10, 20])
    assert [line.plain.rstrip() for line in bisection_lines(done.found, 100)] == [
        "gemm · sm_90a · num_stages=2 · by compiler",
        "  fact shared_memory.dynamic_bytes",
        "  0  10",
        "  1  10  last as before",
        "  2  20  first changed",
        "changed in 2: 10 → 20",
    ]


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("shared_memory.dynamic_bytes", "65536"),
        ("sync_totals[tma_load].dynamic", "32"),
        ("sync_totals[cp_async_wait].static", "0"),
        ("shared_buffers[no].num_versions", "none"),
        ("launch.cluster", "–"),
        ("pipeline_loops[*].scheduled_by", "pipeline_loops[k].scheduled_by warp_specialization"),
        ("outcome", "lowered"),
    ],
)
def test_facts_are_read_by_path(fact, value):
    """As `check` names them; an op that never occurs is 0, a buffer that is not there is none."""
    assert seen(dump(), Watched(fact=fact)) == (value, None)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("shared_memory.dynamic_bytes > 65535", "yes"),
        ("shared_memory.dynamic_bytes > 65536", "no"),
        ("buffers['A_shared'].num_versions >= 2 and len(loops) == 1", "yes"),
        ("v.totals['wgmma'].static == 0", "no"),
    ],
)
def test_expressions(expression, value):
    """Python over the names that an expectation has."""
    assert seen(dump(), Watched(until=expression)) == (value, None)


def test_an_expression_without_an_answer():
    """One that raises says why, and is neither yes nor no."""
    value, note = seen(dump(), Watched(until="buffers['no'].num_versions > 1"))
    assert value is None
    assert "LookupError: buffers has no 'no' (there are: A_shared, B_shared)" in note


def test_an_expression_about_a_failure(tmp_path):
    """The outcome can be asked for where there are no facts."""
    write_folder(tmp_path / "d", dump_files(failed(), None, None))
    there = read_dump(tmp_path / "d")
    assert seen(there, Watched(until="outcome == 'failed'")) == ("yes", None)
    assert seen(there, Watched(until="shared_memory.fits"))[0] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "bisect watches one thing"),
        ({"fact": "outcome", "until": "True"}, "bisect watches one thing"),
        ({"fact": "shared_memory.dynamic_byte"}, "names no fact"),
        ({"fact": "variant.params[num_stages]"}, "what is asked for, not what comes of it"),
        ({"until": "9**9**9"}, r"\*\* is not allowed here"),
    ],
)
def test_what_can_not_be_watched(arguments, message):
    """Nothing, two things, a misspelt fact."""
    with pytest.raises(UsageError, match=message):
        Watched(**arguments)


def test_no_expression():
    """A syntax error is the caller's, before anything is lowered."""
    with pytest.raises(UsageError, match="is no Python expression"):
        Watched(until="shared_memory.fits =")


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (("compiler", {"good": "0.1.12", "bad": "0.1.14"}), ("0.1.12", "0.1.13", "0.1.14")),
        (("compiler", {"good": "0.1.14", "bad": "0.1.12"}), ("0.1.14", "0.1.13", "0.1.12")),
        (("compiler", {"compilers": ["tilelang==0.1.9", "/x"]}), ("0.1.9", "/x")),
        (("compiler", {"compilers": ["tilelang"], "good": "0.1.14"}), ("0.1.14", "0.1.15")),
        (
            ("compiler", {"compilers": ["tvm"], "good": "0.25.0.post1", "bad": "0.27.0"}),
            ("tvm==0.25.0.post1", "tvm==0.26.0", "tvm==0.27.0"),
        ),
        (
            ("compiler", {"good": "tvm==0.27.0", "bad": "0.26.0"}),
            ("tvm==0.27.0", "tvm==0.26.0"),
        ),
        (("num_stages", {"good": "1", "bad": "4"}), ("1", "2", "3", "4")),
        (("num_stages", {"good": "3", "bad": "1"}), ("3", "2", "1")),
        (("num_stages", {"depths": [0, 2, 5]}), ("0", "2", "5")),
        (("pass-config", {"configs": ["a=1", "b=2"]}), ("a=1", "b=2")),
    ],
)
def test_points_of_an_axis(arguments, values):
    """From the good end to the bad one, also where that is backwards."""
    axis, given = arguments
    found = axis_values(axis, **given)
    assert tuple(value.removeprefix("tilelang==") for value in found) == values


@pytest.mark.parametrize(
    ("axis", "given", "message"),
    [
        ("compiler", {"good": "0.0.1"}, "--good 0.0.1 is no point of the axis"),
        ("num_stages", {}, "needs its depths"),
        ("num_stages", {"good": "1", "bad": "x"}, "--bad x: a depth is 0 to 1024"),
        ("num_stages", {"good": "²", "bad": "4"}, "--good ²: a depth is 0 to 1024"),
        ("pass-config", {"good": "x"}, "from none of the configs to all"),
    ],
)
def test_points_that_are_none(axis, given, message):
    """What is wrong with an end is said with its flag."""
    with pytest.raises(UsageError, match=message):
        axis_values(axis, **given)


def test_pass_configs_are_added_one_by_one():
    """The first point has none of them, the last all."""
    points = candidates("pass-config", ["a.x=true", "b.y=2"], SweepPlan(archs=("sm_80",)))
    assert [point.plan.pass_configs for point in points] == [
        {}, {"a.x": True}, {"a.x": True, "b.y": 2},
    ]  # fmt: skip
    assert [point.name for point in points] == ["none of them", "+ a.x=true", "+ b.y=2"]


@pytest.mark.parametrize(
    ("axis", "hint"),
    [
        ("compiler", "--compiler tilelang==A tilelang==B"),
        ("num_stages", "--num-stages 1 2 3 4"),
        ("pass-config", "--pass-config KEY=VALUE"),
    ],
)
def test_one_point_is_no_axis(world, axis, hint):
    """There is nothing to halve; the hint says how that axis gets its points."""
    with pytest.raises(UsageError, match=f"two points of {axis} at least") as caught:
        world.run([10], axis=axis)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("fact", ["*", "shared_memory.*", "shared_memory", "*.dynamic_bytes"])
def test_a_pattern_is_every_fact_it_describes(world, fact):
    """Whatever it leaves open: the fact that changed is among those that are compared."""
    done = world.run([10, 10, 20], Watched(fact=fact))
    assert done.found.points[done.found.right].name == "2"
    assert done.found.changed == ("shared_memory.dynamic_bytes",)


@pytest.mark.parametrize(
    ("fact", "changed"),
    [
        ("sync_totals.*", "sync_totals[cp_async_wait].static"),
        ("sync_ops", "sync_ops[cp_async_wait body #1].args[max_pending]"),
        ("pipeline_loops[*].statements.*", "pipeline_loops[k].statements.stage"),
        ("shared_buffers[*].num_versions", "shared_buffers[A_shared].num_versions"),
        ("*.grid", None),
        ("*.cuda_line", "sync_ops[cp_async_wait body #1].cuda_line"),
        ("*.max_num_stages", None),
        ("kernel_cu", "kernel_cu"),
    ],
)
def test_patterns_over_two_depths(fact, changed):
    """Lists, sites, columns of statements, positions that are spelt out, and the text."""
    found = differing(dump("sm_80", 1), dump("sm_80", 3), Watched(fact=fact))
    assert changed in found if changed else found == ()


def test_every_fact_is_no_name_no_line_and_no_text():
    """Two variants that differ in these alone are alike in ``*``."""
    one = dump()
    sites = one.result.facts.sync_ops
    moved = tuple(msgspec.structs.replace(site, line=900) for site in sites)
    facts = msgspec.structs.replace(one.result.facts, sync_ops=moved)
    two = msgspec.structs.replace(
        one, result=msgspec.structs.replace(one.result, facts=facts), kernel_cu="// other"
    )
    assert differing(one, two, Watched(fact="*")) == ()
    assert differing(one, two, Watched(fact="*.line"))
    assert differing(one, two, Watched(fact="kernel_cu")) == ("kernel_cu",)


def test_what_nobody_looked_at_is_no_answer(world):
    """Machine code that was not made: neither a value, nor a reason to say that ends are alike."""
    for watched in (Watched(fact="machine.registers"), Watched(until="machine.registers > 1")):
        assert seen(dump(), watched) == (None, "no machine code")
        with pytest.raises(UsageError, match="0 has no answer: no machine code"):
            world.run([10, 20], watched)


def test_machine_code_is_asked_for_by_what_is_watched():
    """A pattern of machine facts alone needs it; ``*`` says that it was not looked at."""
    assert Watched(fact="machine.registers").needs_machine_code
    assert Watched(fact="*.registers").needs_machine_code
    assert Watched(until="machine.spill_bytes").needs_machine_code
    assert not Watched(fact="*").needs_machine_code
    assert Watched(fact="*").may_be_machine_code
    assert not Watched(fact="shared_memory.*").may_be_machine_code


def test_every_fact_says_that_machine_code_is_not_among_them(world):
    """It is one of the things that ``*`` stands for."""
    found = world.run([10, 20], Watched(fact="*")).found
    lines = [line.plain for line in bisection_lines(found, 100)]
    assert lines[-2:] == [
        "changed in 1: shared_memory.dynamic_bytes",
        "machine code was not looked at: --machine",
    ]


def test_many_facts_are_counted_by_their_kind(world):
    """Each kind as the pattern that asks for it; of two or three facts the paths are told."""
    found = msgspec.structs.replace(
        world.run([10, 20], Watched(fact="*")).found,
        changed=(
            *(f"sync_ops[cp_async_wait body #{at}].intrinsic" for at in (1, 2, 3)),
            "sync_ops[cp_async_wait body #1].args[max_pending]",
            "shared_memory.dynamic_bytes",
            "launch.dynamic_smem_bytes",
        ),
    )
    assert bisection_lines(found, 300)[-2].plain == (
        "changed in 1: 6 facts (3 of sync_ops[*].intrinsic, 1 of sync_ops[*].args[max_pending], "
        "1 of shared_memory.dynamic_bytes …)"
    )


def test_a_spelling_that_is_followed_is_shown(world, capsys):
    """Asked for by its name it has a row; one that was not asked for stays in the line."""
    paths = [f"sync_ops[cp_async_wait body #{at}].intrinsic" for at in (1, 2)]
    changes = tuple(
        FactChange(
            path=path, group="sync", kind="spelling", presence="both", follows=True, subject="",
            text=f"{at} intrinsic a → b", left="a", right="b", left_evidence=(), right_evidence=(),
        )
        for at, path in enumerate(paths)
    )  # fmt: skip
    found = msgspec.structs.replace(world.run([10, 20]).found, changed=tuple(paths[:1]))
    print_bisection(found, Console(width=100), sides=Sides(changes=changes))
    out = capsys.readouterr().out
    assert "0 intrinsic a → b" in out
    assert "spelled otherwise, and no difference: a → b –" in out


def test_one_of_many_facts_is_named(world):
    """Where of all that is watched one changed, it is told, not how many facts there are."""
    found = world.run([10, 20], Watched(fact="*")).found
    points = tuple(
        msgspec.structs.replace(point, value=f"{295 + at} facts")
        for at, point in enumerate(found.points)
    )
    found = msgspec.structs.replace(
        found, points=points, changed=("sync_ops[cp_async_wait epilogue #1].args[max_pending]",)
    )
    said = [line.plain for line in bisection_lines(found, 100)]
    assert "changed in 1: sync_ops[cp_async_wait epilogue #1].args[max_pending]" in said


def test_a_thing_that_neither_end_has(world):
    """A misspelt buffer is alike everywhere: it is an error that names those that are there."""
    with pytest.raises(UsageError, match="neither 0 nor 1 has it") as caught:
        world.run([10, 20], Watched(fact="shared_buffers[A].num_versions"))
    assert caught.value.hint == "there are: A_shared, B_shared"


def test_a_diagnostic_that_neither_end_has(world):
    """It was looked for and not found: that is an answer."""
    done = world.run([10, 20], Watched(fact="diagnostics[spill]"))
    assert done.sides is None
    assert done.found.points[0].value == "none"


def test_alike_ends_say_what_was_not_looked_at(world):
    """A change that is taken back in between can't be seen from the ends."""
    lines = [line.plain for line in bisection_lines(world.run([10, 20, 10]).found, 200)]
    assert lines[-1] == (
        "no change between the ends: 0 and 2 are alike in this; what lies between was not looked "
        "at (--all-points looks)"
    )
    lines = [line.plain for line in bisection_lines(world.run([10, 10]).found, 200)]
    assert lines[-1] == "no change: 0 and 1 are alike in this"


def test_all_points(world):
    """Each change is found, the first one is told in full."""
    done = world.run([10, 10, 20, 20, 10], every=True)
    assert world.looked == [0, 4, 1, 2, 3]
    assert (done.found.left, done.found.right, done.found.again) == (1, 2, (4,))
    assert done.sides[1].result.facts.shared_memory.dynamic_bytes == 20
    assert [line.plain.rstrip() for line in bisection_lines(done.found, 100)][2:] == [
        "  0  10",
        "  1  10  last as before",
        "  2  20  first changed",
        "  3  20",
        "  4  10  changed again",
        "changed in 2: 10 → 20; and again in 4",
    ]


def test_all_points_that_are_alike(world):
    """Then it is known, and said."""
    done = world.run([10, 10, 10], every=True)
    lines = [line.plain for line in bisection_lines(done.found, 100)]
    assert lines[-1] == "no change: all points from 0 to 2 are alike in this"


def test_the_pass_of_what_is_watched_comes_first():
    """The first pass that diverges may be about something else: it is named after it."""
    sides = dump("sm_80", 1), dump("sm_80", 3)
    watched = Watched(fact="shared_buffers[A_shared].num_versions")
    found = Bisection(
        axis="num_stages", watched=watched.words, variant=sides[0].result.variant, points=(),
        left=0, right=1, between=(), changed=differing(*sides, watched), again=(),
        not_looked_at=(), machine_code=True,
    )  # fmt: skip
    differ = Sides(changes=changes_with_since(*sides), first_pass="tl.PipelinePlanning")  # noqa: S106
    assert [text for text, _ in pass_lines(found, differ)] == [
        "it differs since tl.InjectSoftwarePipeline",
        "first diverging pass: tl.PipelinePlanning",
    ]
    text = msgspec.structs.replace(found, changed=("kernel_cu",))
    assert [text for text, _ in pass_lines(text, differ)] == [
        "first diverging pass: tl.PipelinePlanning"
    ]


def test_values_with_arrows_of_their_own(world):
    """Of which arrow is the change's nobody could tell."""
    assert from_to("1", "2") == "1 → 2"
    assert from_to("copy A → s; reduce", "reduce") == "was [copy A → s; reduce], now [reduce]"
    found = world.run([10, 20]).found
    points = (
        msgspec.structs.replace(found.points[0], value="A → s"),
        msgspec.structs.replace(found.points[1], value="B → s"),
    )
    shown = bisection_lines(msgspec.structs.replace(found, points=points), 100)
    assert shown[-1].plain == "changed in 1: was [A → s], now [B → s]"


@pytest.mark.tilelang
@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("stagebench bisect --axis num_stages", "changed in 6: no → yes"),
        (
            "stagebench bisect --axis pass-config",
            "changed in + tl.disable_warp_specialized=true: 2 → 0",
        ),
    ],
)
def test_the_examples_of_its_help_find_what_they_look_for(start, found):
    """What stands in the help is typed as it stands there."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    text = parser.epilog.replace("\\\n", " ")
    line = next(line for line in text.splitlines() if line.startswith(start))
    done = stagebench(*shlex.split(line)[1:])
    assert done.code == 1, done.err
    assert found in done.out


@pytest.mark.tilelang
def test_the_words_of_the_command_line():
    """Machine code is made where it is watched; a power is refused at once."""
    where = ("--axis", "num_stages", "--num-stages", "1", "2", "--arch", "sm_80")
    done = stagebench("bisect", "--fact", "machine.registers", *where, "--json", "-")
    if "machine code" in done.err or "nvrtc" in done.err.lower():
        pytest.skip(done.err)
    points = done.json["points"]
    assert done.code == 1, done.err
    assert all(int(point["value"]) > 0 for point in points)
    assert done.json["changed"] == ["machine.registers"]
    refused = stagebench("bisect", "--until", "9**9**9", *where)
    assert refused.code == 2
    assert "** is not allowed here" in refused.err


def test_its_help_names_every_built_in():
    """And where a bisection of releases starts and ends."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    text = " ".join(parser.format_help().split())
    assert [name for name in (*BUILTINS, *TVM_BUILTINS) if name not in text] == []
    assert "gemm (default), gemm_nn" in text
    assert "gemm_tirx_tma_profiled; or path/to/file.py:function" in text
    assert "where to end (default: the newest tested)" in text
