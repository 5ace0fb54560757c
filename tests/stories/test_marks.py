"""Does the script behind the story of marks find the loop that multiplies?"""

import importlib.util
from pathlib import Path

MARKS = Path(__file__).parents[2] / "experiments" / "regions" / "marks.py"
SASS = """
.L_x_1:
        /*0010*/                   LDS.U16 R1, [R2] ;
.L_x_0:
        /*0020*/                   FFMA R3, R1, R1, R3 ;
        /*0030*/              @P0 BRA `(.L_x_0) ;
        /*0040*/                   BRA `(.L_x_9) ;
        /*0050*/              @P1 BRA `(.L_x_1) ;
.L_x_2:
        /*0060*/              @P2 BRA `(.L_x_2) ;
.L_x_9:
        /*0070*/                   EXIT ;
"""


def test_the_loop_that_multiplies():
    """The inner one: not the one around it, nor the shorter one without a product."""
    spec = importlib.util.spec_from_file_location("marks", MARKS)
    marks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(marks)
    found = marks.multiplying(SASS)
    assert [marks.opcode(each) for each in found] == ["FFMA", "BRA"]
