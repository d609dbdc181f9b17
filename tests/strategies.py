"""Hypothesis strategies: source splits, rules, scores with truth sets."""

from __future__ import annotations

from hypothesis import strategies as st

from shortcuts import Example, Tokens, op, single, tic

TOKENS = Tokens(("indicator0", "indicator1"), "context0")
RULES = [module.build(TOKENS) for module in (single, tic, op)]

words = st.text(alphabet="abcdefghij.,'", min_size=1, max_size=6)
examples = st.builds(Example, st.lists(words, min_size=1, max_size=20).map(tuple), st.sampled_from([0, 1]))
splits = st.lists(examples, min_size=1, max_size=30)
rules = st.sampled_from(RULES)
seeds = st.integers(0, 2**31)


@st.composite
def scored_truths(draw: st.DrawFn, most: int = 6) -> tuple[list[float], set[int]]:
    """A few scores, many of them tied, and a non-empty set of positions."""
    scores = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=most))
    truth = draw(st.sets(st.integers(0, len(scores) - 1), min_size=1))
    return scores, truth
