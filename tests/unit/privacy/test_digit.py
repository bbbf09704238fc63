"""Digits have their law exactly: thresholds, tables, kernel and slow path, checked without sampling."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from hushgrid.privacy import bits as bits_module
from hushgrid.privacy.codes import place_digit
from hushgrid.privacy.digit import Digit, DigitLaw, guide_to
from tests.plain_noise import NoMoreBits, ScriptedBits, scaled_floor

LAWS = {
    "noise of rate 1": DigitLaw(rate=Fraction(1), signed=True, size=None),
    "noise of rate 1/10": DigitLaw(rate=Fraction(1, 10), signed=True, size=None),
    "noise of an odd rate": DigitLaw(rate=Fraction(355, 1130), signed=True, size=None),
    "noise of rate 10": DigitLaw(rate=Fraction(10), signed=True, size=None),
    "noise of rate 1e300": DigitLaw(rate=Fraction(10**300), signed=True, size=None),
    "geometric of rate 1/7": DigitLaw(rate=Fraction(1, 7), signed=False, size=None),
    "lowest digit of rate 1e-4": DigitLaw(rate=Fraction(1, 10**4), signed=True, size=128),
    "lowest digit of rate 2**-44": DigitLaw(rate=Fraction(1, 2**44), signed=True, size=64),
    "sign alone": DigitLaw(rate=Fraction(1, 3), signed=True, size=2),
    "middle digit": DigitLaw(rate=Fraction(64, 10**4), signed=False, size=32),
    "steep digit with a size": DigitLaw(rate=Fraction(3), signed=False, size=16),
    "one bit": DigitLaw(rate=Fraction(1, 5), signed=False, size=2),
}
laws = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


def plain_floor(law, value, bits):
    """The threshold by mpmath."""
    return scaled_floor(value, bits, rate=law.rate, signed=law.signed, size=law.size)


def values_and_undecided(digit, words):
    """Digit of every word by the kernel, and the indices it leaves undecided."""
    codes = np.empty(len(words), np.int64)
    undecided = np.empty(len(words), np.int32)
    words = np.asarray(words, np.uint32)
    found = place_digit(words, digit.thresholds, digit.guide, digit.guide_shift, 0, True, codes, undecided, 0)
    return codes, set(undecided[:found].tolist())


@laws
@pytest.mark.parametrize("word_bits", [8, 12, 32])
def test_thresholds_are_floors_of_the_survival_function(law, word_bits):
    """In the table, one by one, and the first one past it, all as mpmath has them."""
    table = law.thresholds(word_bits)

    assert table[:-1] == [plain_floor(law, value, word_bits) for value in range(1, len(table))]
    assert table[-1] == 0 == plain_floor(law, len(table), word_bits)
    assert [law.threshold(value, word_bits) for value in range(1, len(table))] == table[:-1]


@laws
def test_thresholds_of_many_bits_are_floors_too(law):
    """As the slow path needs them."""
    values = [value for value in (1, 2, 3, 7, 50) if law.size is None or value < law.size]

    for bits in (96, 160, 1000):
        assert [law.threshold(value, bits) for value in values] == [plain_floor(law, value, bits) for value in values]


@laws
@pytest.mark.parametrize("word_bits", [8, 10, 12])
@pytest.mark.parametrize("guide_bits", [None, 1, 5])
def test_every_word_gives_its_digit_or_is_undecided(law, word_bits, guide_bits):
    """All words there are: counted against the thresholds; undecided are the thresholds and zero."""
    digit = Digit.tabulate(law, word_bits=word_bits, guide_bits=guide_bits)
    words = np.arange(2**word_bits)

    values, undecided = values_and_undecided(digit, words)

    thresholds = np.array(law.thresholds(word_bits))
    assert undecided == set(thresholds.tolist())
    decided = np.setdiff1d(words, thresholds)
    assert np.array_equal(values[decided], np.sum(thresholds > decided[:, None], axis=1))


@laws
def test_words_beside_a_threshold_give_their_digit(law):
    """Words of 32 bits: a threshold, one less, one more, and random ones."""
    digit = Digit.tabulate(law)
    thresholds = np.array(law.thresholds(32))
    around = np.concatenate([thresholds - 1, thresholds, thresholds + 1])
    words = np.concatenate([around[around >= 0], np.random.default_rng(1).integers(0, 2**32, 5000)])

    values, undecided = values_and_undecided(digit, words)

    assert {words[i] for i in undecided} == set(thresholds.tolist())
    decided = np.setdiff1d(np.arange(len(words)), list(undecided))
    assert np.array_equal(values[decided], np.sum(thresholds > words[decided, None], axis=1))


def test_a_digit_is_put_at_its_place():
    """The first digit overwrites the codes, later ones add to them, and the list of undecided goes on."""
    digit = Digit.tabulate(LAWS["geometric of rate 1/7"])
    words = np.array([0, 2**31, 2**32 - 1], np.uint32)
    codes, undecided = np.full(3, 7, np.int64), np.full(6, -1, np.int32)
    values, _ = values_and_undecided(digit, words)

    found = place_digit(words, digit.thresholds, digit.guide, digit.guide_shift, 0, True, codes, undecided, 0)
    found = place_digit(words, digit.thresholds, digit.guide, digit.guide_shift, 9, False, codes, undecided, found)

    assert np.array_equal(codes, values + (values << 9))
    assert undecided[:found].tolist() == [0, 0]


def decided_strings(digit, length, settle=Digit.settle, undecided=None):
    """For every value, the number of strings of `length` bits that lead to it; undecided strings under None.

    All first words go through the kernel, those it leaves undecided through the slow path, which is given every
    continuation, four bits at a time.
    """
    words = np.arange(2**digit.word_bits)
    values, found_undecided = values_and_undecided(digit, words)
    undecided = found_undecided if undecided is None else undecided
    strings = {}

    def count(value, known):
        strings[value] = strings.get(value, 0) + 2 ** (length - known)

    def continue_with(word, integers):
        known = digit.word_bits + 4 * len(integers)
        try:
            count(settle(digit, word, ScriptedBits(integers=integers)), known)
        except NoMoreBits:
            if known == length:
                count(None, known)
            else:
                for nibble in range(16):
                    continue_with(word, [*integers, nibble])

    for word in words.tolist():
        if word in undecided:
            continue_with(word, [])
        else:
            count(int(values[word]), digit.word_bits)
    return strings


def expected_strings(law, length):
    """Numbers of strings strictly between neighbouring thresholds, by the law in mpmath."""
    strings, value, above = {}, 0, 2**length
    undecided = set()
    while above > 0 and value != law.size:
        last = value + 1 == law.size
        below = 0 if last else plain_floor(law, value + 1, length)
        if above - below - (not last) > 0:
            strings[value] = above - below - (not last)
        if not last:
            undecided.add(below)
        value, above = value + 1, below
    return strings | ({None: len(undecided)} if undecided else {})


@pytest.fixture
def four_bits_at_a_time(monkeypatch):
    """The slow path reads four bits, so that all continuations can be tried; it meets the same thresholds often."""
    monkeypatch.setattr(bits_module, "EXTENSION_BITS", 4)
    monkeypatch.setattr(DigitLaw, "threshold", cache(DigitLaw.threshold))


@laws
@pytest.mark.parametrize("word_bits", [8, 11])
def test_every_string_of_bits_leads_where_the_law_says(law, word_bits, four_bits_at_a_time):
    """The decision tree of kernel and slow path, as exact integers: what is decided is the law, the rest is 2**-n."""
    length = word_bits + 20
    digit = Digit.tabulate(law, word_bits=word_bits)

    assert decided_strings(digit, length) == expected_strings(law, length)


def one_threshold_moved(digit, step):
    """The digit with one threshold off by one, and the guide that belongs to it."""
    thresholds = digit.thresholds.copy()
    thresholds[5] = int(thresholds[5]) + step
    guide_bits = digit.word_bits - digit.guide_shift
    return replace(
        digit, thresholds=thresholds, guide=guide_to(thresholds, word_bits=digit.word_bits, guide_bits=guide_bits)
    )


def guide_entry_moved(digit):
    """The digit with a guide that is one too high in one place where it is sure."""
    guide = digit.guide.copy()
    guide[np.flatnonzero(guide > 0)[3]] += 1
    return replace(digit, guide=guide)


MUTATIONS = {
    "threshold one too high": lambda digit: decided_strings(one_threshold_moved(digit, 1), 20),
    "threshold one too low": lambda digit: decided_strings(one_threshold_moved(digit, -1), 20),
    "guide one too high": lambda digit: decided_strings(guide_entry_moved(digit), 20),
    "slow path one too high": lambda digit: decided_strings(digit, 20, lambda *given: Digit.settle(*given) + 1),
    "equality taken as below": lambda digit: decided_strings(digit, 20, undecided={0}),
}


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS.keys())
def test_the_check_would_notice_a_digit_off_by_a_hair(mutation, four_bits_at_a_time):
    """Negative control: each of five small faults changes the decision tree."""
    law = LAWS["noise of an odd rate"]
    digit = Digit.tabulate(law, word_bits=8)

    assert decided_strings(digit, 20) == expected_strings(law, 20)
    assert mutation(digit) != expected_strings(law, 20)


def test_many_zero_bits_lead_far_into_the_tail():
    """Noise of rate 1000 is not 0 for U below 2 exp(-1000), about 2**-1441.7: after 1,440 zeros it is undecided."""
    digit = Digit.tabulate(DigitLaw(rate=Fraction(1000), signed=True, size=None))
    zeros = [0] * 22  # with the word, 1,440 bits

    assert digit.settle(0, ScriptedBits(integers=[*zeros, 2**63])) == 0
    assert digit.settle(0, ScriptedBits(integers=[*zeros, 0, 2**63])) == 2
    with pytest.raises(NoMoreBits):
        digit.settle(0, ScriptedBits(integers=zeros))


def test_a_word_of_zero_is_the_last_value_of_a_digit_with_a_size():
    """No further bit is read: U below the last positive threshold is all there is to know."""
    law = LAWS["middle digit"]

    assert Digit.tabulate(law).settle(0, ScriptedBits()) == law.size - 1


def test_tables_cannot_be_written_to():
    """They are shared by all draws of a rate."""
    digit = Digit.tabulate(LAWS["noise of rate 1"])

    with pytest.raises(ValueError, match="read-only"):
        digit.thresholds[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        digit.guide[0] = 1
