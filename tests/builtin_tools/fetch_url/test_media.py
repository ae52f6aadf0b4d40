"""Kinds of content, charsets, and characters that nobody sees."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolkit
from builtin_tools.fetch_url.invisible import visible
from builtin_tools.fetch_url.media import MediaType, decoded
from tests.builtin_tools.fetch_url.web import tool_over
from tests.http.loopback import Reply, serving

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"
HTML = b"<!DOCTYPE html><html><body><p>Hello there, this is a page.</p></body></html>"


async def read(http: Any, body: bytes, media_type: str | None) -> Any:
    headers = {} if media_type is None else {"Content-Type": media_type}
    async with serving(Reply(body, headers=headers or {"Content-Type": ""})) as server:
        return await toolkit.execute(tool_over(http, allow_private=True), {"url": server.url})


@pytest.mark.parametrize(
    ("media_type", "body", "text"),
    [
        ("text/plain", b"plain\r\ntext", "plain\ntext"),
        ("text/markdown; charset=UTF-8", "# Ü".encode(), "# Ü"),
        ("text/csv", b"a,b\n1,2", "a,b\n1,2"),
        ("application/json", b'{"a": [1]}', '{"a": [1]}'),
        ("application/problem+json", b"{}", "{}"),
        ("application/atom+xml", b"<feed/>", "<feed/>"),
        ("application/yaml", b"a: 1", "a: 1"),
        ("TEXT/HTML", HTML, "Hello there, this is a page."),
        ("application/xhtml+xml", HTML, "Hello there, this is a page."),
        (None, HTML, "Hello there, this is a page."),
        (None, b"just text", "just text"),
        ("nonsense", b"just text", "just text"),
        ("application/octet-stream", b"just text", "just text"),
        ("text/plain", b"<p>as it is</p>", "<p>as it is</p>"),
    ],
)
async def test_html_and_texts_are_read(http: Any, media_type: str | None, body: bytes, text: str) -> None:
    result = await read(http, body, media_type)

    assert not result.is_error, result.content
    assert result.value.text == text


@pytest.mark.parametrize(
    ("media_type", "body", "told"),
    [
        ("application/pdf", PDF, "a PDF (application/pdf)"),
        ("image/png", b"\x89PNG", "an image (image/png)"),
        ("image/svg+xml", b"<svg/>", "an image (image/svg+xml)"),
        ("video/mp4", b"", "a video (video/mp4)"),
        ("application/zip", b"PK\x03\x04", "a file (application/zip)"),
        ("application/vnd.ms-excel", b"\xd0\xcf", "a file (application/vnd.ms-excel)"),
        ("application/octet-stream", b"\x00\x01\x02", "a file such as a PDF"),
        ("text/plain", PDF, "a file such as a PDF"),
        ("text/html", b"\x1f\x8b\x08\x00", "a file such as a PDF"),
        (None, b"PK\x03\x04", "a file such as a PDF"),
    ],
)
async def test_what_is_no_text_is_refused_by_its_kind(
    http: Any, media_type: str | None, body: bytes, told: str
) -> None:
    result = await read(http, body, media_type)

    assert result.content.startswith("unsupported content: ")
    assert told in result.content


@pytest.mark.parametrize(
    ("content", "charset", "is_markup", "text"),
    [
        ("für".encode(), None, False, "für"),
        ("für".encode("latin-1"), None, False, "für"),
        ("für".encode("latin-1"), "iso-8859-1", False, "für"),
        (b"\x93x\x94", "latin1", False, "“x”"),
        ("日本".encode("shift_jis"), "Shift_JIS", False, "日本"),
        ("привет".encode("koi8-r"), "koi8-r", False, "привет"),
        (b"\xef\xbb\xbf\xc3\xbc", "latin-1", False, "ü"),
        (b"\xff\xfe" + "ü".encode("utf-16-le"), None, False, "ü"),
        (b"ok", "no-such-charset", False, "ok"),
        (b"+ADw-script+AD4-", "utf-7", False, "+ADw-script+AD4-"),
        (b"\\u003c", "unicode_escape", False, "\\u003c"),
        (b"x\x9c", "zlib", False, "xœ"),
        (b"abc", "rot13", False, "abc"),
        (b'<meta charset="koi8-r">\xd0', None, True, '<meta charset="koi8-r">п'),
        (b'<meta charset="koi8-r">\xd0', None, False, '<meta charset="koi8-r">Ð'),
        (
            b'<?xml version="1.0" encoding="windows-1251"?>\xef',
            None,
            True,
            '<?xml version="1.0" encoding="windows-1251"?>п',
        ),
        (b'<meta charset="utf-16">\xc3\xbc', None, True, '<meta charset="utf-16">ü'),
        (b"x" * 400 + b"\xff" + b"y" * 10, None, False, "x" * 400 + "\ufffd" + "y" * 10),
    ],
)
def test_bytes_become_text_by_mark_header_markup_or_utf_8(
    content: bytes, charset: str | None, is_markup: bool, text: str
) -> None:
    assert decoded(content, charset, is_markup=is_markup) == text


@pytest.mark.parametrize(
    ("header", "name", "charset"),
    [
        ("text/html; charset=utf-8", "text/html", "utf-8"),
        ('Text/HTML;charset="UTF-8"', "text/html", "utf-8"),
        ("text/html", "text/html", None),
        ("", "", None),
        ("text", "", None),
        ("text/html\r\nx: y", "", None),
        (";;;", "", None),
        ("text/html; charset=", "text/html", None),
    ],
)
def test_a_content_type_is_read(header: str, name: str, charset: str | None) -> None:
    media = MediaType.read(header)

    assert (media.name, media.charset or None) == (name, charset)


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(character)) for character in text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (f"Hello{tags('ignore all')} there", "Hello there"),
        ("pass\u200bword\u2060s\ufeff", "passwords"),
        ("a\u202eb\u2066c\u200ed", "abcd"),
        ("a\u200db\u200cc", "abc"),
        ("soft\u00adhyphen", "softhyphen"),
        ("byte\ufe01\U000e0101s", "bytes"),
        ("bell\x07 \x1b[31mred\x00", "bell [31mred"),
        ("one\r\ntwo\rthree\x0cfour\x85five", "one\ntwo\nthree\nfour\nfive"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # noqa: RUF001
        ("می\u200c\u200d\u200cخواهم", "می\u200cخواهم"),  # noqa: RUF001
        ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
        ("tab\tand é 日本", "tab\tand é 日本"),
    ],
)
def test_characters_that_nobody_sees_are_taken_out(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text())
def test_taking_out_what_nobody_sees_is_done_at_once(text: str) -> None:
    once = visible(text)

    assert visible(once) == once
    assert not set(once) & set(map(chr, [*range(0xE0000, 0xE0080), 0x200B, 0xFEFF, 0x202E, 0, 0x1B]))
