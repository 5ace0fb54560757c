"""Print the corpus's ``KERNELS`` maps as JSON: what `cases.json` holds.

Run by hand (and by a slow test) where TileLang is installed: ``python tests/corpus/list_cases.py``.
"""

import importlib
import json
import sys
from pathlib import Path

KERNELS = Path(__file__).with_name("kernels")


def main():
    sys.path.insert(0, str(KERNELS))
    cases = {}
    for path in sorted(KERNELS.glob("k*.py")):
        entries = importlib.import_module(path.stem).KERNELS
        cases[path.stem] = {
            name: {
                "function": entry["fn"].func.__name__,
                "args": entry["args"],
                "stage_param": entry["stage"],
                "pass_configs": {
                    str(getattr(key, "value", key)): value
                    for key, value in entry.get("pass_configs", {}).items()
                },
            }
            for name, entry in entries.items()
        }
    json.dump(cases, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
