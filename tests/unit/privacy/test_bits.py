"""Sources of bits: never the same twice from the system, always the same from a seed."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from hushgrid.errors import ArgumentError
from hushgrid.privacy.bits import SimulatedBits, SystemBits, UniformReal, simulation_rng
from tests.plain_noise import NoMoreBits, ScriptedBits

SOURCES = {"system": SystemBits, "simulation": lambda: simulation_rng(1)}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())

# Three children and their parent draw from a source made before the fork, and from one made after it.
FORKS = """
import json, os
from fractions import Fraction
from hushgrid.privacy.bits import SystemBits, simulation_rng
from hushgrid.privacy.laplace import discrete_laplace

shared = {source}
def draw():
    bits = (shared, {source})
    noise = [discrete_laplace(40, rate=Fraction(1, 1000), bits=each).tolist() for each in bits]
    return json.dumps(noise + [each.words(4).tolist() for each in bits] + [each.integer(128) for each in bits])

for _ in range(3):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, draw().encode())
        os._exit(0)
    os.wait()
    print(os.read(reader, 100_000).decode())
print(draw())
"""


def forked_draws(source):
    """What the four processes drew, as one list of draws, each a text."""
    script = FORKS.format(source=source)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 4
    return [json.dumps(draw) for line in lines for draw in line]


def test_processes_made_by_fork_draw_differently():
    """Parent and children, from a source made before the fork or after it: no draw occurs twice."""
    draws = forked_draws("SystemBits()")

    assert len(set(draws)) == len(draws) == 24


def test_the_check_would_notice_children_that_draw_alike():
    """Negative control: a seeded source is copied by the fork, and draws repeat."""
    draws = forked_draws("simulation_rng(1)")

    assert len(set(draws)) < len(draws)


@sources
@pytest.mark.parametrize("count", [0, 1, 2, 5, 16_384])
def test_words_are_32_bits_and_cannot_be_written_to(source, count):
    """However many are asked for."""
    words = source().words(count)

    assert words.shape == (count,)
    assert words.dtype == np.uint32
    assert not words.flags.writeable


@sources
def test_every_bit_is_as_often_one_as_zero(source):
    """Within six standard deviations, for each bit of words and integers."""
    bits = source()
    words = bits.words(40_000)
    integers = np.array([bits.integer(32) for _ in range(4_000)])

    for drawn in (words, integers):
        ones = [np.mean(drawn >> place & 1) for place in range(32)]
        assert np.max(np.abs(np.array(ones) - 0.5)) < 6 * 0.5 / np.sqrt(len(drawn))


@sources
@pytest.mark.parametrize("bit_count", [0, 1, 7, 8, 9, 63, 64, 65, 200])
def test_integers_use_the_whole_range(source, bit_count):
    """The highest and the lowest bit are seen as zero and as one."""
    bits = source()
    drawn = [bits.integer(bit_count) for _ in range(100)]

    assert all(0 <= number < 2**bit_count for number in drawn)
    for place in {0, bit_count - 1} if bit_count else set():
        assert {number >> place & 1 for number in drawn} == {0, 1}


def test_system_bits_are_never_the_same():
    """Two sources, and one asked twice."""
    first, second = SystemBits(), SystemBits()
    drawn = [first.words(4), first.words(4), second.words(4)]

    assert len({words.tobytes() for words in drawn}) == 3
    assert len({first.integer(128), first.integer(128), second.integer(128)}) == 3


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_system_bits_cannot_be_copied(duplicate):
    """Bits of the system cannot be sent to a worker, or written to a file."""
    with pytest.raises(TypeError, match="make a new one"):
        duplicate(SystemBits())


def test_only_a_simulation_says_so():
    """It is what a release is refused by."""
    assert simulation_rng(0).simulation
    assert not SystemBits().simulation


def test_a_seed_tells_the_two_streams():
    """Halves of PCG64DXSM outputs, low first; integers are the leading bits of a stream of their own."""
    for_words, for_integers = np.random.SeedSequence(5).spawn(2)
    outputs = np.random.PCG64DXSM(for_words).random_raw(3).tolist()
    first, second, third = np.random.PCG64DXSM(for_integers).random_raw(3).tolist()
    bits = simulation_rng(5)

    halves = [half for output in outputs for half in (output % 2**32, output >> 32)]
    assert bits.words(3).tolist() + bits.words(2).tolist() == halves[:3] + halves[4:6]
    assert bits.integer(10) == first >> 54
    assert bits.integer(100) == (second << 64 | third) >> 28


def test_words_do_not_depend_on_integers_in_between():
    """Integers come from a stream of their own, so that the slow path does not shift words."""
    quiet, busy = simulation_rng(3), simulation_rng(3)
    busy.integer(1000)

    assert np.array_equal(quiet.words(10), busy.words(10))
    assert not np.array_equal(simulation_rng(3).words(10), simulation_rng(4).words(10))


@pytest.mark.parametrize("seed", [0, 7, 2**200, np.int64(7)])
def test_a_seed_is_any_integer_from_zero_on(seed):
    """Of any size, numpy's too."""
    assert isinstance(simulation_rng(seed), SimulatedBits)


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, [1]], ids=repr)
def test_anything_else_is_no_seed(seed):
    """The message quotes what was given as a seed."""
    with pytest.raises(ArgumentError, match="seed must be a non-negative integer, got seed="):
        simulation_rng(seed)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 13])
def test_integers_below_a_bound_are_equally_likely(bound):
    """Of all integers of as many bits, each below the bound leads to itself and the others to another try."""
    bit_count = (bound - 1).bit_length()

    class Listed(ScriptedBits):
        def integer(self, asked):
            assert asked == bit_count
            return super().integer(asked)

    assert [Listed(integers=[number]).below(bound) for number in range(bound)] == list(range(bound))
    for number in range(bound, 2**bit_count):
        assert Listed(integers=[number, 0]).below(bound) == 0
        with pytest.raises(NoMoreBits):
            Listed(integers=[number]).below(bound)


@sources
def test_integers_below_a_large_bound_reach_it(source):
    """A bound of 200 bits just above a power of two."""
    bits, bound = source(), 2**199 + 1
    drawn = [bits.below(bound) for _ in range(100)]

    assert 0 <= min(drawn) < max(drawn) < bound
    assert max(drawn) > bound // 2


@pytest.mark.parametrize("bound", [0, -3])
def test_nothing_is_below_zero(bound):
    """There is no such integer to draw."""
    with pytest.raises(ArgumentError, match="bound"):
        simulation_rng(1).below(bound)


def test_a_uniform_number_is_read_only_as_far_as_needed():
    """A third is 0.0101... in binary: 64 bits suffice unless they are its own."""
    third = 2**64 // 3

    def floor(length):
        return 2**length // 3

    assert UniformReal(ScriptedBits(integers=[third - 1])).is_below(floor)
    assert not UniformReal(ScriptedBits(integers=[third + 1])).is_below(floor)
    assert UniformReal(ScriptedBits(integers=[third, 0])).is_below(floor)
    with pytest.raises(NoMoreBits):
        UniformReal(ScriptedBits(integers=[third, third])).is_below(floor)
