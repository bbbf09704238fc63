"""Languages of the statement: complete, alike in what they tell, and strict about files of one's own."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

import hushgrid as hg
from hushgrid.export.language import SHIPPED, Language

ENGLISH = Language.of("en").sentences
FILES = resources.files("hushgrid") / "data" / "statements"


def places(text: str) -> set[str]:
    """The words in braces."""
    return set(re.findall(r"\{(\w+)\}", text))


def test_every_file_is_a_language() -> None:
    """None is forgotten in the list of those shipped."""
    assert {Path(file.name).stem for file in FILES.iterdir() if file.name.endswith(".toml")} == set(SHIPPED)


@pytest.mark.parametrize("code", SHIPPED)
def test_languages_have_the_same_keys_and_places(code: str) -> None:
    """In the same order, so that they are easily compared; code is marked alike."""
    sentences = tomllib.loads((FILES / f"{code}.toml").read_text(encoding="utf-8"))

    assert list(sentences) == list(ENGLISH)
    assert sentences["lang"] == code
    for key, text in sentences.items():
        assert places(text) == places(ENGLISH[key]), key
        assert text.count("`") == ENGLISH[key].count("`"), key


@pytest.mark.parametrize("code", [code for code in SHIPPED if code != "en"])
def test_languages_are_translated(code: str) -> None:
    """Hardly a sentence is left in English."""
    same = [key for key, text in Language.of(code).sentences.items() if text == ENGLISH[key] and len(text) > 24]

    assert same == []


@pytest.mark.parametrize(
    ("code", "written"),
    [("en", "1,234,567.25"), ("de", "1.234.567,25"), ("fr", "1\u202f234\u202f567,25"), ("es", "1.234.567,25")],
)
def test_numbers_are_written_as_readers_expect(code: str, written: str) -> None:
    """The marks of the language, with no digit lost."""
    assert Language.of(code).number(1234567.25) == written
    assert Language.of(code).number(-3) == "-3"


def own(tmp_path: Path, **changes: str | None) -> Path:
    """A file of English sentences, some changed or left out."""
    kept = {key: text for key, text in {**ENGLISH, **changes}.items() if text is not None}
    path = tmp_path / "my.toml"
    path.write_text("\n".join(f"{key} = '''{text}'''" for key, text in kept.items()), encoding="utf-8")
    return path


def test_a_file_of_ones_own_is_used(tmp_path: Path) -> None:
    """Its sentences, and its marks in numbers."""
    language = Language.of(own(tmp_path, total="All in all {total}: {low} … {high}!", thousands="'"))

    assert language.say("total", total=language.number(12345), low=1, high=2) == "All in all 12'345: 1 … 2!"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"odds_after": None}, "the key 'odds_after' is missing"),
        ({"odds_aftr": "Then"}, "the key 'odds_aftr' is not known"),
        ({"total": "{total}, {low}"}, "the key 'total' must have {high} and {low} and {total}"),
        ({"total": "{total.real} {low} {high}"}, "the key 'total' must have"),
        ({"total": "{total} {low} {high"}, "the key 'total' must have"),
        ({"title": ""}, "the key 'title' must have a text"),
        ({"lead": "{file}"}, "the key 'lead' must have no word in braces"),
    ],
    ids=str,
)
def test_a_wrong_file_is_refused_by_its_key(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """The message names the key, so that it can be mended."""
    with pytest.raises(hg.InputError) as refused:
        Language.of(own(tmp_path, **changes))

    assert words in str(refused.value)


def test_what_is_no_language_is_refused(tmp_path: Path) -> None:
    """A code that is not shipped, a file that is missing, and one that is not TOML."""
    (tmp_path / "bad.toml").write_bytes(b"\xff = 1")

    with pytest.raises(hg.ArgumentError, match=r"en, de, fr, es"):
        Language.of("klingon")
    for name in ("bad.toml", "missing.toml"):
        with pytest.raises(hg.InputError, match=name):
            Language.of(tmp_path / name)
