"""Is a dump read back as it was written, and is everything else refused by name?"""

import json

import msgspec
import pytest

from stagebench.dump.atomic_file import write_folder
from stagebench.dump.files import dump_files, read_dump
from stagebench.errors import DumpError
from tests.dumping.building import CUDA, FRAME, TEXTS, failed, lowered

WHOLE = [
    "facts.json", "kernel.cu", "launch.json", "passes.json", "snapshots.txt.zst", "variant.json",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A whole dump of a lowered variant."""
    write_folder(tmp_path / "dump", dump_files(lowered(), CUDA, FRAME))
    return tmp_path / "dump"


def change(path, **fields):
    """Set fields of a JSON file (``None``: take the field out)."""
    content = json.loads(path.read_text())
    for name, value in fields.items():
        content.pop(name, None)
        if value is not None:
            content[name] = value
    path.write_text(json.dumps(content))


def refusal(folder):
    """What is said of a folder that can't be read."""
    with pytest.raises(DumpError) as caught:
        read_dump(folder)
    return caught.value.message


def test_round_trip(folder):
    """Every field of every record comes back equal, the CUDA and the pass snapshots too."""
    dump = read_dump(folder)
    assert dump.result == lowered()
    assert dump.kernel_cu == CUDA
    assert dump.snapshots() == TEXTS
    assert dump.folder == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == WHOLE


def test_round_trip_of_a_failure(tmp_path):
    """A failed variant is its identity and its failure, nothing else."""
    write_folder(tmp_path / "dump", dump_files(failed(), None, None))
    dump = read_dump(tmp_path / "dump")
    assert (dump.result, dump.kernel_cu) == (failed(), None)
    assert [path.name for path in (tmp_path / "dump").iterdir()] == ["variant.json"]


def test_the_same_result_gives_the_same_bytes():
    """Writing twice gives equal files, whatever order maps were filled in."""
    result = lowered()
    turned = msgspec.structs.replace(
        result.variant, params=dict(reversed(result.variant.params.items()))
    )
    again = msgspec.structs.replace(lowered(), variant=turned)
    assert dump_files(result, CUDA, FRAME) == dump_files(again, CUDA, FRAME)


def test_files_are_readable_text(folder):
    """JSON is indented, ends with a newline, and names its schema first."""
    for name in WHOLE:
        if name.endswith(".json"):
            text = (folder / name).read_text()
            assert text.startswith('{\n  "schema_version": 1,\n')
            assert text.endswith("}\n")


def test_facts_have_a_home_each(folder):
    """Every field of `Facts` is in one file, and `facts.json` keeps their order."""
    from stagebench.dump.files import FactsFile
    from stagebench.model import Facts

    kept = [name for name in FactsFile.__struct_fields__ if name != "schema_version"]
    assert kept == [name for name in Facts.__struct_fields__ if name != "launch"]
    assert list(json.loads((folder / "facts.json").read_text())) == ["schema_version", *kept]


def test_nothing_else_is_a_dump(tmp_path):
    """A folder that is none, one that is not there, and a file are told apart."""
    assert refusal(tmp_path) == f"{tmp_path} is not a whole dump: variant.json is missing"
    assert refusal(tmp_path / "none") == f"no dump at {tmp_path / 'none'}"
    (tmp_path / "file").write_text("x")
    assert "file" in refusal(tmp_path / "file")


@pytest.mark.parametrize("name", [n for n in WHOLE if n != "snapshots.txt.zst"])
def test_a_missing_file(folder, name):
    """The file that is missing is named."""
    (folder / name).unlink()
    assert refusal(folder) == f"{folder} is not a whole dump: {name} is missing"


def test_missing_snapshots(folder):
    """Snapshots are read when they are asked for, and missing then."""
    (folder / "snapshots.txt.zst").unlink()
    dump = read_dump(folder)
    with pytest.raises(DumpError, match=r"snapshots\.txt\.zst: No such file"):
        dump.snapshots()


@pytest.mark.parametrize("name", [n for n in WHOLE if n.endswith(".json")])
def test_an_unknown_field(folder, name):
    """A field that no record has is named with its file."""
    change(folder / name, surprise=1)
    said = refusal(folder)
    assert f"{folder / name}: " in said
    assert "`surprise`" in said


@pytest.mark.parametrize("name", [n for n in WHOLE if n.endswith(".json")])
@pytest.mark.parametrize("version", [2, "1", None])
def test_another_schema_version(folder, name, version):
    """Another version, one of another type, and none at all are refused."""
    change(folder / name, schema_version=version)
    said = refusal(folder)
    assert f"{folder / name}: " in said
    assert "schema" in said


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("variant.json", {"outcome": "maybe"}, "$.outcome"),
        ("variant.json", {"outcome": "failed"}, "outcome and failure contradict"),
        ("variant.json", {"variant": None}, "`variant`"),
        ("facts.json", {"shared_memory": 3}, "$.shared_memory"),
        ("facts.json", {"sync_totals": {"x": {"static": "1", "dynamic": 1}}}, "$.sync_totals"),
        ("facts.json", {"machine": {}}, "$.machine"),
        ("facts.json", {"barriers": None}, "`barriers`"),
        ("facts.json", {"launch": {}}, "`launch`"),
        ("facts.json", {"lowering": {"seconds": None, "passes": []}}, "`passes` - at `$.lowering`"),
        ("launch.json", {"launch": {"function": "f"}}, "$.launch"),
        ("passes.json", {"passes": {}}, "$.passes"),
    ],
)
def test_a_field_of_another_type(folder, name, fields, words):
    """A field that is wrong, missing or out of place is named by file and path."""
    change(folder / name, **fields)
    said = refusal(folder)
    assert f"{folder / name}: " in said
    assert words in said


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'"text"'])
@pytest.mark.parametrize("name", ["variant.json", "facts.json"])
def test_a_file_that_is_no_json(folder, name, data):
    """Damage is told with the file's name, never as a traceback of ours."""
    (folder / name).write_bytes(data)
    assert refusal(folder).startswith(f"{folder / name}: ")


def test_cuda_that_is_no_text(folder):
    """A kernel.cu that is not UTF-8 is damage."""
    (folder / "kernel.cu").write_bytes(b"\xff\xfe")
    assert refusal(folder).startswith(f"{folder / 'kernel.cu'}: ")


def test_a_failed_variant_without_a_failure(tmp_path):
    """Exactly one of failure and facts is set: neither is refused."""
    write_folder(tmp_path / "dump", dump_files(failed(), None, None))
    content = json.loads((tmp_path / "dump" / "variant.json").read_text())
    content["failure"] = None
    (tmp_path / "dump" / "variant.json").write_text(json.dumps(content))
    assert "outcome and failure contradict each other" in refusal(tmp_path / "dump")


@pytest.mark.parametrize(
    "data",
    [FRAME[:-1], FRAME[: len(FRAME) // 2], FRAME[:3], b"", b"text"],
    ids=["last byte", "half", "header", "empty", "text"],
)
def test_a_damaged_snapshot_frame(folder, data):
    """A frame that is cut short or is none is told with the file's name; the rest is readable."""
    (folder / "snapshots.txt.zst").write_bytes(data)
    dump = read_dump(folder)
    with pytest.raises(DumpError, match=r"snapshots\.txt\.zst: damaged pass snapshots") as caught:
        dump.snapshots()
    assert caught.value.hint == "lower the variant again"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"==== aaaa 100\nshort\n", "text aaaa is cut short"),
        (b"no header\n", "no header at byte 0"),
        (b"==== aaaa 2\nok\n==== ", "no header at byte 15"),
        (b"==== aaaa -1\nok\n", "no header at byte 0"),
    ],
)
def test_a_snapshot_frame_of_something_else(folder, text, words):
    """A frame that is whole but holds something else is refused where it goes wrong."""
    import zstandard

    (folder / "snapshots.txt.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    with pytest.raises(DumpError, match=words):
        read_dump(folder).snapshots()
