from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builtin_tools.http import Identity, Secret, Section
from toolkit.errors import ConfigurationError

NO_VARIABLES: dict[str, str] = {}


@pytest.mark.parametrize("values", [None, {}, {"wikipedia": None}, {"wikipedia": {}}])
def test_an_absent_section_is_an_empty_one(values: Any) -> None:
    section = Section(values, environment=NO_VARIABLES).section("wikipedia")

    assert section.text("anything") is None
    assert section.seconds("timeout", default=10.0) == 10.0
    assert section.url("base_url", default="https://example.org/") == "https://example.org"


def test_a_value_wins_over_variables_and_the_first_variable_that_is_set_over_the_others() -> None:
    variables = {"FIRST": "  ", "SECOND": " two ", "THIRD": "three"}

    assert Section({"key": " given "}, environment=variables).text("key", "SECOND") == "given"
    assert Section({"key": ""}, environment=variables).text("key", "FIRST", "SECOND", "THIRD") == "two"


def test_variables_are_read_when_a_value_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    section = Section()
    monkeypatch.setenv("TOOLWIRE_CONTACT", "late@example.org")

    assert Identity.read(section).contact == "late@example.org"


@pytest.mark.parametrize(
    ("read", "values", "path"),
    [
        pytest.param(lambda s: s.section("a"), {"a": "text"}, "a", id="a text for a section"),
        pytest.param(lambda s: s.section("a").section("b"), {"a": {"b": [1]}}, "a.b", id="a list for a section"),
        pytest.param(lambda s: s.section("a").text("b"), {"a": {"b": 5}}, "a.b", id="a number for a text"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": "soon"}, "t", id="words for seconds"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": True}, "t", id="true for seconds"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": 0}, "t", id="no seconds"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": -1}, "t", id="negative seconds"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": "nan"}, "t", id="nan seconds"),
        pytest.param(lambda s: s.seconds("t", default=1), {"t": float("inf")}, "t", id="endless seconds"),
        pytest.param(lambda s: s.flag("f", default=False), {"f": "perhaps"}, "f", id="a word for a flag"),
        pytest.param(lambda s: s.header("h"), {"h": "a\r\nX-Evil: 1"}, "h", id="two lines for a header"),
        pytest.param(lambda s: s.header("h"), {"h": "grüße@example.org"}, "h", id="non-ASCII for a header"),
        pytest.param(lambda s: s.secret("k"), {"k": "one\ntwo"}, "k", id="two lines for a key"),
    ],
)
def test_a_wrong_value_is_refused_by_its_path(
    read: Callable[[Section], Any], values: dict[str, Any], path: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"(^|\W){path}(\W|$)"):
        read(Section(values, environment=NO_VARIABLES))


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org",
        "example.org",
        "https://",
        "https://h:port",
        "https://h/?q=1",
        "https://h/#f",
        "https://a b/",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        Section({"base_url": address}, environment=NO_VARIABLES).url("base_url", default="https://example.org")


@pytest.mark.parametrize(("value", "seconds"), [(2, 2.0), (0.5, 0.5), ("2.5", 2.5), (None, 10.0), ("", 10.0)])
def test_seconds_are_read_from_numbers_and_texts(value: Any, seconds: float) -> None:
    assert Section({"timeout": value}).seconds("timeout", default=10.0) == seconds


@pytest.mark.parametrize(
    ("value", "flag"), [(True, True), ("yes", True), ("0", False), (False, False), (None, True), (" Off ", False)]
)
def test_flags_are_read_from_booleans_and_words(value: Any, flag: bool) -> None:
    assert Section({"flag": value}).flag("flag", default=True) is flag


def test_a_flag_falls_to_the_environment_and_then_to_its_default() -> None:
    environment = {"FIRST": " ", "SECOND": "off", "THIRD": "on"}

    def flag(values: object) -> bool:
        return Section(values, environment=environment).flag("flag", "FIRST", "SECOND", "THIRD", default=True)

    assert flag({}) is False
    assert flag({"flag": True}) is True
    assert Section({}, environment={}).flag("flag", "FIRST", default=True) is True


def test_a_secret_shows_its_value_only_when_it_is_asked_to() -> None:
    secret = Section({"api_key": "tvly-123"}).secret("api_key")

    assert secret is not None
    assert secret.reveal() == "tvly-123"
    assert secret == Secret("tvly-123")
    assert "tvly" not in f"{secret} {secret!r} {[secret]}"
    assert Section({"api_key": secret}).secret("api_key") is secret


@pytest.mark.parametrize(
    ("values", "header"),
    [
        ({"contact": "a@b.org", "user_agent": "Acme/2.1"}, "Acme/2.1 (a@b.org)"),
        ({"contact": "a@b.org", "user_agent": "Acme/2.1 (a@b.org)"}, "Acme/2.1 (a@b.org)"),
        ({"user_agent": "Acme/2.1"}, "Acme/2.1"),
    ],
)
def test_the_user_agent_names_the_application_and_its_contact(values: dict[str, str], header: str) -> None:
    assert Identity.read(Section(values, environment=NO_VARIABLES)).header == header


def test_without_an_own_name_the_user_agent_is_toolwires() -> None:
    header = Identity(contact="https://example.org/bot").header

    assert header.startswith("toolwire/")
    assert header.endswith(" (https://example.org/bot)")


def test_the_contact_is_not_in_the_repr() -> None:
    assert "ada@" not in repr(Identity(contact="ada@example.org"))


def test_a_key_that_is_nearly_one_that_is_read_is_refused() -> None:
    section = Section({"linear": {"write": True}}, environment=NO_VARIABLES)

    with pytest.raises(ConfigurationError) as refused:
        section.section("linear", "team", "writes")

    assert str(refused.value) == (
        "the built-in tools' configuration has 'linear.write', which nothing reads; did you mean 'linear.writes'?"
    )


def test_keys_that_are_like_none_that_is_read_may_be_there_for_others() -> None:
    whole = Section.whole({"database": "shop.sqlite3", "linear": {"owner": "ada"}}, NO_VARIABLES)

    assert whole.section("linear", "team", "writes").text("team") is None


@pytest.mark.parametrize(
    "others",
    [
        {"contacts": {"table": "people"}},
        {"contract": "c-1"},
        {"timeouts": {"database": 5}},
        {"timeout_ms": 500},
        {"line": {"channel": "c-1"}},
        {"linearb": {"key": "k"}},
        {"wikimedia": {"commons": True}},
        {"fetch_urls": ["https://example.org"]},
        {"contacts": None},
    ],
)
def test_a_whole_configuration_may_hold_the_settings_of_others_whose_names_are_alike(others: dict[str, object]) -> None:
    assert Section.whole({**others, "contact": "ada@example.org"}, NO_VARIABLES).text("contact") == "ada@example.org"
