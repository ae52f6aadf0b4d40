"""The page about testing: its tests are run by pytest, with the plugin, as a reader would run them."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, blocks_of

pytest_plugins = ["pytester"]

PAGE = ROOT / "docs" / "testing.md"


def test_the_tests_of_the_page_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n\n".join(block.text for block in blocks_of(PAGE.read_text()) if block.language == "python")
    pytester.makepyfile(code)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    ended = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "--strict-markers")

    written = re.findall(r"^(?:async )?def (test_\w+)", code, re.MULTILINE)
    ended.assert_outcomes(passed=len(written) - 1, skipped=1)  # the live one
    assert len(written) == len(set(written))
