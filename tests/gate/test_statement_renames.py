"""Is a fragment's new name no difference, and everything else still one?"""

import msgspec
import pytest

from tests.gate.building import accepted, facts_with, judged


def told(*summaries):
    """A real result whose loop has these statements' summaries."""
    then = accepted()
    loop = then.facts.pipeline_loops[0]
    statements = tuple(
        msgspec.structs.replace(statement, summary=summary)
        for statement, summary in zip(loop.statements, summaries, strict=True)
    )
    loop = msgspec.structs.replace(loop, statements=statements)
    return facts_with(then, pipeline_loops=(loop,))


COPIES = ("copy A → A_shared", "copy B → B_shared")
GEMM = "gemm A_shared, B_shared → C_local"


def status(tmp_path, now, then=(*COPIES, GEMM)):
    return judged(tmp_path / "b", told(*then), told(*now)).status


def test_a_renamed_fragment_is_clean(tmp_path):
    """One to one, in every statement."""
    assert status(tmp_path, (*COPIES, GEMM.replace("C_local", "zed"))) == "clean"
    rest = ("loop kk: copy A → x; gemm x → y", "if kk < n: compute → y")
    new = ("loop q: copy A → u; gemm u → w", "if q < n: compute → w")
    assert status(tmp_path, (*new, GEMM), (*rest, GEMM)) == "clean"


@pytest.mark.parametrize(
    "now",
    [
        (*COPIES, "gemm B_shared, A_shared → C_local"),
        (*COPIES, "gemm A_shared, A_shared → C_local"),
        (*COPIES, "gemm A_shared, B_shared → A_shared"),
        (*COPIES, "gemm_sp A_shared, B_shared → C_local"),
        (*COPIES, "copy A_shared, B_shared → C_local"),
        (*COPIES, "gemm A_shared, frag → C_local"),
        (*COPIES, "gemm A_shared → C_local"),
        ("copy A → A_shared", "copy B → frag", "gemm A_shared, frag → C_local"),
        (*reversed(COPIES), GEMM),
        ("copy other → A_shared", "copy B → B_shared", GEMM),
        (*COPIES, "compute → nothing"),
    ],
)
def test_everything_else_is_drift(tmp_path, now):
    """Swapped operands, another operator, another kind of buffer, an order."""
    assert status(tmp_path, now) == "drift"


def test_one_renaming_for_all_statements(tmp_path):
    """A fragment that has two names now is two fragments, and two that have one are one."""
    then = ("copy A → x", "copy x → y", GEMM)
    assert status(tmp_path, ("copy A → u", "copy w → y", GEMM), then) == "drift"
    assert status(tmp_path, ("copy A → u", "copy u → u", GEMM), then) == "drift"
    assert status(tmp_path, ("copy A → y", "copy y → x", GEMM), then) == "drift"
    assert status(tmp_path, ("copy A → u", "copy u → w", GEMM), then) == "clean"
