"""Prints the character classes of Hugging Face `tokenizers` as the arrays of
src/embed/character_classes.cpp, by asking it about every code point."""

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer


def ranges(code_points):
    found = []
    for point in code_points:
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def main():
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    clean = BertNormalizer(**{**off, "clean_text": True})
    chinese = BertNormalizer(**{**off, "handle_chinese_chars": True})
    strip = BertNormalizer(**{**off, "strip_accents": True})
    split = BertPreTokenizer()
    classes = {"Removed": [], "Space": [], "Chinese": [], "Mark": [], "Punctuation": []}
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000:
            continue
        text = f"a{chr(point)}b"
        if clean.normalize_str(text) == "ab":
            classes["Removed"].append(point)
        if chinese.normalize_str(text) != text:
            classes["Chinese"].append(point)
        if strip.normalize_str(text) == "ab":
            classes["Mark"].append(point)
        words = [word for word, _ in split.pre_tokenize_str(text)]
        if words == ["a", "b"]:
            classes["Space"].append(point)
        elif len(words) == 3:
            classes["Punctuation"].append(point)
    for name, points in classes.items():
        entries = ", ".join(f"{{0x{first:x}, 0x{last:x}}}" for first, last in ranges(points))
        print(f"constexpr Range k{name}[] = {{{entries}}};\n")


if __name__ == "__main__":
    main()
