"""Taking out the nodes of a page that nobody sees: what is hidden from people is not for a model either."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["remove_hidden"]

_NEVER_SHOWN = (
    "script",
    "style",
    "template",
    "noscript",
    "head",
    "iframe",
    "object",
    "embed",
    "svg",
    "canvas",
    "dialog",
)
_SELECTOR = re.compile(r"[.#][A-Za-z_][\w-]*")
_BRACE = re.compile(r"([{}])")
_FADING = re.compile(r"opacity\s*:[^;]*", re.IGNORECASE)
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:0*(?:\.0+)?%?|"
    r"font-size:0*(?:\.0+)?[a-z%]*|(?:text-indent|left|top|right|margin-left|margin-top):-\d{3,}(?:\.\d+)?[a-z]*|"
    r"clip:rect\((?:[01](?:px)?,?){4}\)|clip-path:inset\((?:50|100)%\)|transform:scale\(0(?:,0)?\)|color:transparent)"
    r"(?:;|$)"
)
_NOTHING_HIGH = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01]?(?:px)?(?:;|$)")
_STYLE_READ = 200_000


def remove_hidden(tree: Any) -> None:
    """Removes, from a tree of lxml, what is never shown: by attribute, by its style, or by a class or id that a style
    sheet in the page hides. Style sheets elsewhere, and colours on their like, are not looked at."""
    selectors = _hiding_selectors(tree)
    doomed = [node for node in tree.iter() if _is_hidden(node, selectors)]
    for node in doomed:
        if node.getparent() is not None and node.tag not in ("html", "body"):
            node.drop_tree()  # keeps the text that follows the node
    for node in tree.iter("*"):
        node.attrib.pop("style", None)  # judged here; trafilatura takes every `overflow:hidden` for hidden text


def _is_hidden(node: Any, selectors: frozenset[str]) -> bool:
    if not isinstance(node.tag, str):  # a comment or an instruction
        return True
    if node.tag in _NEVER_SHOWN:
        return node.tag != "dialog" or "open" not in node.attrib
    if node.tag == "input":
        return True
    if "hidden" in node.attrib and node.get("hidden", "").strip().lower() != "until-found":
        return True
    style = node.get("style")
    if style and _hides(style):
        return True
    if not selectors:
        return False
    return f"#{node.get('id', '')}" in selectors or any(
        f".{name}" in selectors for name in node.get("class", "").split()
    )


def _hides(style: str) -> bool:
    folded = re.sub(r"\s+|!important", "", _uncommented(style).lower())
    return bool(_HIDING.search(folded)) or ("overflow:hidden" in folded and bool(_NOTHING_HIGH.search(folded)))


def _hiding_selectors(tree: Any) -> frozenset[str]:
    """The plain `.class` and `#id` selectors whose rule hides."""
    sheets = "\n".join(node.text or "" for node in tree.iter("style"))[:_STYLE_READ]
    return frozenset(
        selector.strip()
        for selectors, style in _rules(_uncommented(sheets))
        # What fades in as one scrolls begins at opacity 0, and is the page's text all the same.
        if _hides(_FADING.sub("", style))
        for selector in selectors.split(",")
        if _SELECTOR.fullmatch(selector.strip())
    )


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations. Rules for some screens only, inside of `@media`, are left out."""
    pieces = _BRACE.split(sheet)
    preludes: list[str] = []
    for text, brace in zip(pieces[::2], pieces[1::2], strict=False):
        if brace == "{":
            preludes.append(text)
        elif preludes:
            prelude = preludes.pop()
            if not preludes:
                yield prelude, text


def _uncommented(style: str) -> str:
    first, *others = style.split("/*")
    return first + "".join(other.partition("*/")[2] for other in others)
