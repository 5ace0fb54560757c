"""Is the same table readable on GitHub?"""

from stagebench.report.markdown import sweep_markdown


def test_rows_become_a_markdown_table(recorded):
    """Changed cells are bold; what would be markup is escaped."""
    text = sweep_markdown(*recorded("gemm_sm80"))
    assert "| num\\_stages | 1 | 2 | 3 | 4 |\n| --- | --- | --- | --- | --- |" in text
    assert "| stage | 0 0 1 | 0 0 1 | **0 0 2** | **0 0 3** |" in text
    assert "\\<1\\>×1 \\<0\\>×1" in text


def test_notes_become_a_list(recorded):
    """Failures and identical code are said too."""
    assert "- failure, depths 2–3: compile error in tl.LayoutInference" in sweep_markdown(
        *recorded("failing", "sm_80")
    )
    assert "- identical, depths 1–3: identical code" in sweep_markdown(*recorded("nested", "sm_80"))
