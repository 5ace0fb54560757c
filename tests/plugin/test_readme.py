"""Does the README's example of the plugin run as it is printed?"""

import re
from pathlib import Path

from tests.plugin.conftest import accept

pytest_plugins = ["pytester"]

README = Path(__file__).parents[2] / "README.md"


def test_the_example(project):
    """Its checks are accepted by the command that the text names, then all of it passes."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (example,) = [block for block in blocks if "stagebench.check(" in block]
    (project.path / "test_x.py").write_text(example)
    project.runpytest_subprocess("-q").assert_outcomes(failed=1, passed=1)
    accept(project, "--pytest", "test_x.py")
    project.runpytest_subprocess("-q").assert_outcomes(passed=2)
