"""`make test` says where its time went."""

import json
import os

from scripts.times import table


def test_stages_and_the_slowest_files_are_listed(tmp_path):
    for name, begin, end in (("unit", 100, 160), ("browser", 160, 190), ("test", 90, 191)):
        for what, at in (("begin", begin), ("end", end)):
            (tmp_path / f"{name}.{what}").touch()
            os.utime(tmp_path / f"{name}.{what}", (at, at))
    (tmp_path / "unit.json").write_text(json.dumps({f"tests/test_{n}.py": float(n) for n in range(12)}))
    (tmp_path / "browser.json").write_text(json.dumps({"tests/browser/test_pages.py": 29.6}))
    lines = table(tmp_path, ["unit", "browser", "test"]).splitlines()
    assert lines[1:4] == ["     60 s  unit", "     30 s  browser", "    101 s  test"]
    assert lines[5:8] == [
        "     30 s  browser: tests/browser/test_pages.py",
        "     11 s  unit: tests/test_11.py",
        "     10 s  unit: tests/test_10.py",
    ]
    assert len(lines) == 2 + 3 + 10
