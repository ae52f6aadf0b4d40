"""The editions of Wikipedia, by the code that stands in their host name.

Kept as a list and not fetched: a code reaches a host name, and what a model says must not decide where a request
goes. Simple English, the closed editions (they can still be read) and the editions whose code is no ISO code are in
it; a writing variant, such as `zh-hans`, is no edition. Source: Wikimedia's site matrix.
"""

from __future__ import annotations

import difflib
import re

__all__ = ["EDITIONS", "is_edition", "near_editions"]

EDITIONS = frozenset(
    """
    aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb
    ba ban bar bat-smg bbc bcl bdr be be-tarask bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr
    ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy
    da dag de dga din diq dsb dtp dty dv dz
    ee el eml en eo es et eu ext
    fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy
    ga gag gan gcr gd gl glk gn gom gor got gpe gu guc gur guw gv
    ha hak haw he hi hif ho hr hsb ht hu hy hyw hz
    ia iba id ie ig igl ii ik ilo inh io is it iu
    ja jam jbo jv
    ka kaa kab kaj kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky
    la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv
    mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn
    na nah nap nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny
    oc olo om or os
    pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ppl ps pt pwn
    qu
    rki rm rmy rn ro roa-rup roa-tara rsk ru rue rw
    sa sah sat sc scn sco sd se sg sh shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl
    szl szy
    ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tok tpi tr trv ts tt tum tw ty tyv
    udm ug uk ur uz
    ve vec vep vi vls vo
    wa war wo wuu
    xal xh xmf
    yi yo
    za zea zgh zh zh-classical zh-min-nan zh-yue zu
    """.split()  # noqa: SIM905 - a list of 340 strings, one a line, would hide what is missing
)

# Codes that people use for an edition whose host has another name.
_OTHER_NAMES = {
    "be-x-old": "be-tarask",
    "cmn": "zh",
    "cz": "cs",
    "gr": "el",
    "gsw": "als",
    "jp": "ja",
    "lzh": "zh-classical",
    "nan": "zh-min-nan",
    "nb": "no",
    "rup": "roa-rup",
    "sgs": "bat-smg",
    "ua": "uk",
    "vro": "fiu-vro",
    "yue": "zh-yue",
}

_CODE = re.compile(r"[a-z]{2,6}(?:-[a-z0-9]{1,9}){0,2}")


def is_edition(code: str) -> bool:
    """True for the exact code of an edition, in small letters."""
    return _CODE.fullmatch(code) is not None and code in EDITIONS


def near_editions(code: str) -> list[str]:
    """Up to three editions that may have been meant: `EN` and `en-GB` give `en`. Empty for what is no code at all."""
    word = code.strip().lower().replace("_", "-")
    if not _CODE.fullmatch(word):
        return []
    for name in (word, word.partition("-")[0]):
        if name in _OTHER_NAMES:
            return [_OTHER_NAMES[name]]
        if name in EDITIONS:
            return [name]
    return difflib.get_close_matches(word, sorted(EDITIONS), n=3, cutoff=0.6)
