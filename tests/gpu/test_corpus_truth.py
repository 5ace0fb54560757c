"""Does the comparison with measured truth tell agreement from disagreement?"""

import csv

from stagebench.bundle.read import read_bundle
from stagebench.gpu.records import RunError
from stagebench.gpu.results import not_run
from tests.bundle.building import bundle, name, parts
from tests.gpu.corpus_truth import PROVEN, VERDICTS, read_truth, tally


def test_the_truth_is_whole():
    """379 points, of which 22 are wrong and 7 fail."""
    statuses = [row["status"] for row in read_truth().values()]
    counts = {status: statuses.count(status) for status in ("ok", "wrong", "error")}
    assert counts == {"ok": 350, "wrong": 22, "error": 7}


def test_agreement(tmp_path):
    """A race agrees with wrong; a correct verdict on a point that was wrong does not."""
    variants = read_bundle(bundle(tmp_path, parts(0), parts(1), parts(2), parts(3))).bundle.variants
    error = RunError(name="CUDA_ERROR_INVALID_VALUE", message="refused")
    verdicts = ("correct", "race", "fails", "correct")
    found = [not_run(v, verdict, error) for v, verdict in zip(variants, verdicts, strict=True)]
    row = {"fraction_wrong": "0.5", "error": ""}
    statuses = ("ok", "wrong", "error", "wrong")
    truth = {depth: {**row, "status": status} for depth, status in enumerate(statuses)}
    table, lines = tally(truth, {name(depth): [depth] for depth in range(4)}, found)
    assert table == {("ok", "correct"): 1, ("wrong", "race"): 1, ("error", "fails"): 1,
                     ("wrong", "correct"): 1}  # fmt: skip
    assert len(lines) == 1
    assert "truth wrong" in lines[0]


def test_every_point_agrees():
    """The verdicts that ``profile`` gave on a Hopper GPU, all of them, held against the truth."""
    truth = read_truth()
    with VERDICTS.open(newline="") as stream:
        found = {
            (row["file"], row["fn"], row["arch"], int(row["num_stages"])): row["verdict"]
            for row in csv.DictReader(stream)
        }
    assert found.keys() == truth.keys()
    wrong = {
        point: (truth[point]["status"], verdict)
        for point, verdict in found.items()
        if verdict not in PROVEN[truth[point]["status"]]
    }
    assert wrong == {}
