"""Prints texts and the words Python finds in them, for simple_test.cpp.

One line per text: the text, then its words, separated by tabs.
Usage: python_words.py SEED
"""

import random
import re
import sys
import unicodedata

CONTROLS = "\t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00"


def assigned():
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) not in ("Cn", "Cs", "Co") and char not in CONTROLS:
            yield char


def show(text):
    words = re.findall(r"\w+", text.lower())
    # The analyzer cuts terms at 255 bytes; the texts here stay below.
    assert all(len(word.encode()) <= 255 for word in words)
    sys.stdout.write("\t".join([text, *words]) + "\n")


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    rng = random.Random(int(sys.argv[1]))
    chars = list(assigned())
    for char in chars:
        # One in sixteen of the ideographs and syllables, which are all alike.
        if 0x3400 <= ord(char) < 0xD7A4 or ord(char) >= 0x17000:
            if unicodedata.category(char) == "Lo" and ord(char) % 16:
                continue
        # Alone, inside a word, and around a capital sigma, whose lower case depends on it.
        show(f"{char} A{char}B {char}Σ aΣ{char} aΣ{char}b a{char}Σ")
    common = "aAbZ09_ΣσςİIıßǅﬁé'.:-·’\u0301\u200d \u00a0"
    for _ in range(5000):
        pool = common if rng.random() < 0.5 else chars
        show("".join(rng.choice(pool) for _ in range(rng.randrange(1, 30))))
        show("".join(rng.choice(rng.choice((common, chars))) for _ in range(rng.randrange(1, 30))))


main()
