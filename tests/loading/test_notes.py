"""What does a note of the loader carry beside its words?"""

from stagebench.model import Evidence
from stagebench.worker.loading.notes import Notes
from stagebench.worker.loading.user_tree import UserTree


def test_texts_are_evidence_as_they_were(tmp_path):
    """The assembler reads flags there: blanks in one and their order stay."""
    kernel = tmp_path / "k.py"
    kernel.write_text("")
    notes = Notes(UserTree(kernel))
    notes.add("compile-flags-kept", "the kernel asks for …", texts=["-O3 -DX", "-lineinfo"])
    notes.add("literal-depth-kept", "this loop keeps 2", (str(kernel), 3))
    flags, depth = notes.all()
    assert [one.text for one in flags.evidence] == ["-O3 -DX", "-lineinfo"]
    assert depth.evidence == (Evidence(artifact="source", line=3, text="k.py:3"),)
