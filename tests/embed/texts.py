"""Texts to compare tokenizers and models on, the same in every run."""

import random

WORDS = (
    "the retrieval of passages by meaning and by words fuses two ranked lists into one; a receipt "
    "says why each hit is where it is. Vectors, postings, segments and snapshots; OAuth2 tokens, "
    "CSRF-safe cookies, IPv6 addresses like 2001:db8::1, versions 1.31.1, $5.00, 50%, e-mail "
    "someone@example.org, paths /usr/lib/x86_64, C++20, naïve café déjà-vu Zürich Łódź São Paulo "
    "Ångström İstanbul straße ΣΊΣΥΦΟΣ Москва Київ 東京 北京市 서울 ประเทศไทย हिन्दी العربية עברית "
    "don't won't rock'n'roll antidisestablishmentarianism floccinaucinihilipilification "
    "[SEP] [CLS] [MASK] [UNK] [PAD] [sep] ##ing ##s # ## [ ] [[SEP]] unaffable embeddings tokenizer"
).split()

HAND_MADE = [
    "", " ", "\t\n\r", "\x00", "a\x00b", "\ufffd", "\u200b", "a\u200bb", "\u00ad", "soft\u00adhyphen",
    "\ufeffbom", "x" * 99, "x" * 100, "x" * 101, "é" * 100, "é" * 101, "\u0301", "e\u0301", "é",
    "e\u0301\u0327\u0302", "q\u0323\u0307", "q\u0307\u0323", "ﬁ ligature", "Ⅻ", "①②③", "½",
    "ÅΩ", "Å K", "ǅ", "ẞ", "İ i̇ ı I", "ΑΣ ας", "한국어", "\u1112\u1161\u11ab", "日本語テキスト",
    "漢字kanji漢字", "𠀀𪜀", "👨‍👩‍👧‍👦 👍🏽 🇩🇪", "a\u00a0b\u2003c\u3000d\u2028e\u2029f\u0085g",
    "¿Qué? ¡No!", "“quotes” ‘single’ „low“ «guillemets»", "a—b–c-d‐e", "…", "foo_bar-baz.qux",
    "CamelCaseAndSNAKE_CASE", "1,234,567.89", "2026-11-15T22:00:00Z", "http://a.b/c?d=e&f=g#h",
    "[SEP]", "a[SEP]b", "[CLS][SEP]", "[MASK", "[sep]", "[ SEP ]", "[[UNK]]", "##", "##ing", "#ing",
    "\ud7ff\ue000", "\U0010ffff", "\U000e0001", "\U000f0000", "\u2e52 \u166d \U000111c9", "\u1734",
    "\U00011938", "\U0001e94a", "\u0344", "\u037e", "\u0387", "\u2126", "\ua7cb", "\u1c89",
    "word " * 600, "\n".join(["line"] * 50), "ab" * 5000, "a " * 5000,
]


def english(rng, count):
    return " ".join(rng.choice(WORDS) for _ in range(count))


def unicode_text(rng, count):
    """Any code points, with those that tokenizers treat specially made likely."""
    blocks = [
        (0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x5FF), (0x600, 0x8FF),
        (0x900, 0xDFF), (0xE00, 0x10FF), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F),
        (0x2070, 0x2BFF), (0x2E00, 0x2E7F), (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xA640, 0xABFF),
        (0xAC00, 0xD7A3), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x2FFFF), (0x0, 0x10FFFF),
    ]
    characters = []
    while len(characters) < count:
        point = rng.randint(*rng.choice(blocks))
        if not 0xD800 <= point < 0xE000:
            characters.append(chr(point))
            if rng.random() < 0.15:
                characters.append(" ")
    return "".join(characters)


def varied(count, seed=1):
    rng = random.Random(seed)
    texts = list(HAND_MADE)
    while len(texts) < count:
        kind = rng.random()
        if kind < 0.35:
            texts.append(english(rng, rng.randint(1, 60)))
        elif kind < 0.7:
            texts.append(unicode_text(rng, rng.randint(1, 80)))
        else:
            letters = [rng.choice(english(rng, 3) + unicode_text(rng, 3)) for _ in range(40)]
            texts.append("".join(letters))
    return texts


def every_code_point(per_text=40):
    """Each code point between two letters, so that what it does to words shows; many to a text."""
    parts = [f"a{chr(p)}b" for p in range(0x110000) if not 0xD800 <= p < 0xE000]
    return [" ".join(parts[i:i + per_text]) for i in range(0, len(parts), per_text)]
