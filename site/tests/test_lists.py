from faro_site.lists import indented


def test_what_is_in_an_item_is_four_spaces_in() -> None:
    text = "1. one\n\n   more\n\n       code\n\n2. two\n   goes on\n\nend\n\n    code\n"
    assert indented(text) == "1. one\n\n    more\n\n        code\n\n2. two\n    goes on\n\nend\n\n    code\n"
    assert indented("- one\n  - two\n") == "- one\n    - two\n"


def test_an_item_after_a_paragraph_is_an_item() -> None:
    assert indented("1. one\n\n   more\n2. two\n3. three\n") == "1. one\n\n    more\n\n2. two\n3. three\n"


def test_code_stays() -> None:
    for text in ("```\n- a\n  b\n```\n", "    - a\n      b\n", "10. ten\n\n    more\n"):
        assert indented(text) == text
