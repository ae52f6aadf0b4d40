from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from builtin_tools.pubmed.markup import text_of

MATH = "http://www.w3.org/1998/Math/MathML"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<a/>", ""),
        ("<a>plain</a>", "plain"),
        ("<a>one <i>two <b>three</b> four</i> five</a>", "one two three four five"),
        ("<a>\n   many\n   lines\t</a>", "many lines"),
        ("<a><!-- no --> text <!-- no -->after</a>", "text after"),
        ("<a>H<sub>2</sub>O</a>", "H2O"),
        ("<a>r<sup>2</sup>&lt;0.25</a>", "r2<0.25"),
        ("<a>p<sub>trend</sub>=0.05</a>", "ptrend=0.05"),
        ("<a>10<sup>6</sup> cells</a>", "10^6 cells"),
        ("<a>5 \N{MULTIPLICATION SIGN} 10<sup>-6</sup></a>", "5 \N{MULTIPLICATION SIGN} 10^-6"),
        ("<a>10<sup>\N{MINUS SIGN}6</sup></a>", "10^\N{MINUS SIGN}6"),
        ("<a>2<sub>10</sub></a>", "2_10"),
        ("<a>H<sub>2</sub><sup>18</sup>O</a>", "H2^18O"),
        ("<a>10<i><sup>6</sup></i></a>", "10^6"),
        ("<a>10<sup><b>6</b></sup></a>", "10^6"),
        ("<a>2<sup>nd</sup> and CD4<sup>+</sup></a>", "2nd and CD4+"),
        ("<a>GeneReviews<sup>®</sup></a>", "GeneReviews®"),
        ("<a>x<sup/>y</a>", "xy"),
    ],
    ids=str,
)
def test_markup_goes_and_all_text_stays(xml: str, text: str) -> None:
    assert text_of(fromstring(xml)) == text


def test_nothing_has_no_text() -> None:
    assert text_of(None) == ""


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^2"),
        ("<msub><mi>a</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>", "a_(i+1)"),
        ("<msubsup><mi>η</mi><mi>p</mi><mn>2</mn></msubsup>", "η_p^2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac>", "(a+1)/b"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
        ("<mfenced open='[' close=']' separators=';'><mi>a</mi><mi>b</mi></mfenced>", "[a;b]"),
        ("<mfenced><mi>a</mi></mfenced>", "(a)"),
        ("<munderover><mo>∑</mo><mn>1</mn><mi>n</mi></munderover>", "∑_1^n"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable>", "[1, 0]"),
        ("<semantics><mi>x</mi><annotation>\\x</annotation></semantics>", "x"),
        ("<cn>17<sep/>29</cn>", "17 29"),
        ("<msup/>", ""),
        ("<msup><mi>x</mi></msup>", "x"),
        ("<mystery><mi>x</mi></mystery>", "x"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_a_formula_is_a_line_of_text_within_its_sentence(xml: str, text: str) -> None:
    sentence = f'<a>so <math xmlns="{MATH}">\n {xml}\n</math> and <m:math xmlns:m="{MATH}"><m:mi>y</m:mi></m:math></a>'

    assert text_of(fromstring(sentence)) == " ".join(f"so {text} and y".split())
