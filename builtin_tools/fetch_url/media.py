"""What kind of content an answer is, and its bytes as text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from email.message import Message
from typing import Literal, TypeAlias

__all__ = ["ContentKind", "MediaType", "decoded", "looks_binary", "sniffed"]

ContentKind: TypeAlias = Literal["html", "text", "unknown", "unsupported"]

_TEXT_TYPES = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/jsonl",
        "application/ld+json",
        "application/ndjson",
        "application/rtf",
        "application/sql",
        "application/toml",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
_FAMILIES = {"image": "an image", "audio": "a sound", "video": "a video", "font": "a font"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"^\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
# Python's codecs hold more than charsets: `unicode_escape`, `zlib`, `idna`, and `utf-7`, which browsers dropped.
_CHARSETS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d{1,2}|cp125\d|cp866|cp932|cp949|koi8-[ru]|mac-(roman|cyrillic)|"
    r"shift_jis|euc_jp|iso2022_jp|gb2312|gbk|gb18030|big5|big5hkscs|euc_kr|tis-620"
)


@dataclass(frozen=True, slots=True)
class MediaType:
    """A `Content-Type`. `name` is blank where the server sent none that can be read."""

    name: str = ""
    charset: str | None = None

    @classmethod
    def read(cls, header: str) -> MediaType:
        message = Message()
        message["content-type"] = header.replace("\r", " ").replace("\n", " ")
        name = header.partition(";")[0].strip().lower()
        charset = message.get_content_charset()
        return cls(name if re.fullmatch(r"[a-z0-9.+*_-]+/[a-z0-9.+*_-]+", name) else "", charset)

    @property
    def kind(self) -> ContentKind:
        """`"unknown"` means that the bytes have to be looked at."""
        if self.name in ("text/html", "application/xhtml+xml"):
            return "html"
        if self.name.startswith("text/") or self.name in _TEXT_TYPES or self.name.endswith(("+json", "+xml", "+yaml")):
            return "unsupported" if self.name == "image/svg+xml" else "text"
        return "unknown" if self.name in ("", "application/octet-stream", "binary/octet-stream") else "unsupported"

    @property
    def told(self) -> str:
        """The type in words for a model, such as `a PDF (application/pdf)`."""
        noun = {"application/pdf": "a PDF"}.get(self.name) or _FAMILIES.get(self.name.partition("/")[0], "a file")
        return f"{noun} ({self.name[:60]})"


def sniffed(content: bytes) -> ContentKind:
    """The kind of content without a useful type."""
    start = content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "html"
    return "unsupported" if looks_binary(content) else "text"


def looks_binary(content: bytes) -> bool:
    """True for what is no text, whatever its type says: PDF, archives, images."""
    start = content[:1_000]
    if start.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")):
        return True
    return b"\0" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decoded(content: bytes, charset: str | None, *, is_markup: bool) -> str:
    """The content as text: by its byte order mark, the header, the markup's own word, UTF-8, Windows-1252 at last."""
    for mark, name in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    declared = _codec(charset)
    if declared is None and is_markup:
        found = _XML_CHARSET.match(content[:200]) or _META_CHARSET.search(content[:2_048])
        declared = _codec(found[1].decode("ascii")) if found else None
        # Markup that could be read as ASCII up to here can't be UTF-16.
        declared = "utf-8" if declared is not None and declared.startswith("utf-16") else declared
    if declared is not None:
        return content.decode(declared, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        # A single character that was cut or spoilt doesn't make another charset of a page.
        lossy = content.decode("utf-8", "replace")
        return (
            lossy
            if lossy.count("\N{REPLACEMENT CHARACTER}") * 100 < error.start
            else content.decode("cp1252", "replace")
        )


def _codec(charset: str | None) -> str | None:
    if not charset:
        return None
    try:
        name = codecs.lookup(charset.strip()).name
    except (LookupError, ValueError):
        return None
    if not _CHARSETS.fullmatch(name):
        return None
    return "cp1252" if name in ("ascii", "iso8859-1") else name  # as browsers read them (WHATWG Encoding Standard)
