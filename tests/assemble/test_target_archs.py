"""Which archs does an assembler say that it assembles for?"""

from stagebench.assemble.target_archs import listed_archs, target_archs

HELP = """\
--fmad                                              (-fmad)
        such as 'sm_10'
--gpu-name <gpu name>                               (-arch)
        Allowed values for this option:  'compute_100','lto_75','sm_100','sm_100a',
        'sm_75','sm_90','sm_90a'.
        Default value:  'sm_75'.

--help                                              (-h)
        Print it; not 'sm_20'
"""


def test_the_values_of_one_option():
    """Each once, oldest first; neither virtual archs nor words of other options."""
    assert listed_archs(HELP) == ("sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a")


def test_a_help_without_that_option():
    """Nothing is known: nobody is told that nothing can be assembled."""
    assert listed_archs("--help  'sm_90'") == ()


def test_the_installed_assembler():
    """CUDA 13 begins at sm_75, and knows Hopper's own arch."""
    found = target_archs()
    assert found is not None
    assert found.archs[0] == "sm_75"
    assert "sm_90a" in found.archs
    assert found.cannot("sm_70").startswith(f"{found.assembler} does not assemble for sm_70 (it ")
