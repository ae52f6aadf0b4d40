"""`base_url`: what is one, and how it is told in errors."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from toolkit.errors import ConfigurationError, escaped

__all__ = ["checked_address", "host_and_port"]


def checked_address(base_url: str) -> str:
    """The `base_url`, if requests can be sent there.

    Raises:
        ConfigurationError: it has no `http://` or `https://`, no host, a port that is none, or a blank in it. Of a
            name and password in it the text tells nothing.
    """
    parts = _parts(base_url)
    if parts is not None and parts.scheme in ("http", "https") and parts.hostname:
        return base_url
    shown = escaped(base_url.rpartition("@")[2])
    raise ConfigurationError(
        f"base_url is '{shown}', and no address; it begins with http:// or https:// and a host, and ends where the "
        f"provider's own paths begin, such as 'http://localhost:11434/v1'"
    )


def host_and_port(base_url: str) -> str:
    """The host and its port, which is left out where it is the usual one of https."""
    parts = urlsplit(base_url)
    host = parts.hostname or base_url
    host = f"[{host}]" if ":" in host else host
    port = parts.port or (80 if parts.scheme == "http" else None)
    return host if port is None else f"{host}:{port}"


def _parts(text: str) -> SplitResult | None:
    """None for what can't be read as an address."""
    if not text.isprintable() or " " in text:
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # read here, and refused where it is no number or too large
    except ValueError:
        return None
    return parts
