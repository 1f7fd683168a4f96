"""The choices in the lesson's mathematics, each with the lesson's own as its default.

A setting other than the default is a misconception; `MISCONCEPTIONS` names each of them.  What
each computes stands in `mathematics`.  Slides are those of the lesson.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Axis = Literal[
    "features",
    "tokens",
    "batch",
    "sequence",
    "all",
    "second",
    "third",
    "not-first",
    "not-last",
]
Centre = Literal["mean", "none", "reversed"]
Spread = Literal[
    "biased",
    "unbiased",
    "sum",
    "around-zero",
    "absolute",
    "none",
    "range",
    "not-rooted",
    "inverse",
    "untouched",
]
Eps = Literal["inside", "outside", "both", "none", "fixed-5", "fixed-6", "fixed-8", "fixed-3"]


@dataclass(frozen=True)
class NormChoices:
    """LayerNorm, slide 5: (x - mean) / sqrt(var + eps) over the features of each token.

    Attributes:
        axis: what mean and variance are taken over; `second` and `third` count the axes from the
            front, whatever the number of dimensions; `not-first` and `not-last` take all others.
        count: what sums are divided by: the number of values, or always `four`.
        kept: whether mean and variance keep the axis, so that they line up with x.
        centre: what is subtracted from x: the mean; nothing; x from the mean.
        spread: what is divided by.  `biased`: the root of the mean squared deviation;
            `unbiased`: with n - 1 in place of n; `sum`: of the sum of squares, not the mean;
            `around-zero`: of the mean of x squared; `absolute`: the mean absolute deviation;
            `none`: nothing; `range`: largest minus smallest; `not-rooted`: the variance itself;
            `inverse`: multiplied by the root instead; `untouched`: x comes back as it is.
        eps: where it is added: to the variance inside the root, to the root outside, both, not
            at all; `fixed-N`: 1e-N, whatever the argument says.
        gain: whether the norm's gain is used.
        shift: whether its shift is used.
    """

    axis: Axis = "features"
    count: Literal["own", "four"] = "own"
    kept: Literal["kept", "dropped"] = "kept"
    centre: Centre = "mean"
    spread: Spread = "biased"
    eps: Eps = "inside"
    gain: Literal["used", "unused"] = "used"
    shift: Literal["used", "unused"] = "used"


Activation = Literal[
    "gelu", "gelu-tanh", "gelu-sigmoid", "relu", "leaky-relu", "elu", "silu", "tanh", "sigmoid",
    "cdf", "none",
]  # fmt: skip


@dataclass(frozen=True)
class FeedForwardChoices:
    """The feed-forward network, slide 24: W2 GELU(W1 x + b1) + b2 for each token.

    Attributes:
        activation: `gelu` is the exact one, slide 26; `gelu-sigmoid`: x sigmoid(1.702 x);
            `cdf`: Phi(x) without the factor x.
        place: where the activation stands.
        mixing: whether the layers work on the features of a token or along the sequence.
        first_bias, second_bias: whether b1 and b2 are added.
        residual: whether x is added inside.
    """

    activation: Activation = "gelu"
    place: Literal["between", "after", "before", "twice"] = "between"
    mixing: Literal["token", "sequence"] = "token"
    first_bias: Literal["used", "unused"] = "used"
    second_bias: Literal["used", "unused"] = "used"
    residual: Literal["none", "added"] = "none"


@dataclass(frozen=True)
class AttentionChoices:
    """Multi-head self-attention, slide 37: softmax(Q K^T / sqrt(dk)) V for each head, projected.

    Attributes:
        scale: what the scores are divided by; `times` multiplies by sqrt(dk).
        softmax: over which axis of the scores.
        split: `right`; `reshaped`: to (B, h, T, dk) without the transpose.
        merge: `right`; `reshaped`: back without the transpose.
        heads: `own` work each on their part; `one` on all features together.
        out: whether the output projection is used.
        mask: `causal`: a token sees those before it only.
        scores: `qk`; `kq`: queries and keys change places.
        values: what the shares are applied to.
        batch: `first`; `second`: batch and tokens change places.
    """

    scale: Literal["sqrt-dk", "none", "dk", "sqrt-d", "times"] = "sqrt-dk"
    softmax: Literal["keys", "queries", "heads", "none"] = "keys"
    split: Literal["right", "reshaped"] = "right"
    merge: Literal["right", "reshaped"] = "right"
    heads: Literal["own", "one"] = "own"
    out: Literal["used", "unused"] = "used"
    mask: Literal["none", "causal"] = "none"
    scores: Literal["qk", "kq"] = "qk"
    values: Literal["v", "k", "q", "x"] = "v"
    batch: Literal["first", "second"] = "first"


@dataclass(frozen=True)
class WiringChoices:
    """The block, slide 34: x = x + attn(norm1(x)), then x = x + ffn(norm2(x)).

    Attributes:
        norm: `pre`; `post`: norm(x + sublayer(x)); `branch`: x + norm(sublayer(x)); `none`.
        norms: which are there: both, or only the other one; `swapped`; `first-twice` and
            `second-twice` use one of them in both places.
        first, second: what is added to the sublayer's output: `x`, the normalised x, nothing, x
            twice; for the second also the block's `input`.
        order: `attention-first`; `ffn-first`; `parallel`: both work on the block's input.
        sublayers: `both`; or one of them left out.
        last: an additional norm at the end: none, or `norm1` or `norm2` once more.
    """

    norm: Literal["pre", "post", "branch", "none"] = "pre"
    norms: Literal[
        "both", "only-first", "only-second", "swapped", "first-twice", "second-twice"
    ] = "both"
    first: Literal["x", "normalised", "none", "doubled"] = "x"
    second: Literal["x", "normalised", "none", "doubled", "input"] = "x"
    order: Literal["attention-first", "ffn-first", "parallel"] = "attention-first"
    sublayers: Literal["both", "no-attention", "no-ffn"] = "both"
    last: Literal["none", "norm1", "norm2"] = "none"


@dataclass(frozen=True)
class BlockChoices:
    """The whole block: its wiring, and the choices inside each part."""

    wiring: WiringChoices = field(default_factory=WiringChoices)
    norm: NormChoices = field(default_factory=NormChoices)
    attention: AttentionChoices = field(default_factory=AttentionChoices)
    ffn: FeedForwardChoices = field(default_factory=FeedForwardChoices)


# The name of each setting other than the lesson's, by class, choice and option.
MISCONCEPTIONS: dict[type, dict[str, dict[str, str]]] = {
    NormChoices: {
        "axis": {
            "tokens": "normalised-over-tokens",
            "batch": "normalised-over-batch",
            "sequence": "normalised-over-sequence",
            "all": "normalised-over-everything",
            "second": "axis-counted-from-front",
            "third": "axis-counted-from-front",
            "not-first": "normalised-over-sequence",
            "not-last": "normalised-over-batch-and-tokens",
        },
        "count": {"four": "hard-coded-sizes"},
        "kept": {"dropped": "axis-not-kept"},
        "centre": {"none": "mean-not-subtracted", "reversed": "sign-reversed"},
        "spread": {
            "unbiased": "unbiased-variance",
            "sum": "variance-not-averaged",
            "around-zero": "variance-not-centred",
            "absolute": "absolute-deviation",
            "none": "not-divided",
            "range": "divided-by-range",
            "not-rooted": "root-missing",
            "inverse": "multiplied-by-deviation",
            "untouched": "input-returned",
        },
        "eps": {
            "outside": "eps-outside-root",
            "both": "eps-added-twice",
            "none": "eps-missing",
            "fixed-5": "eps-ignored",
            "fixed-6": "eps-other-value",
            "fixed-8": "eps-other-value",
            "fixed-3": "eps-other-value",
        },
        "gain": {"unused": "gain-unused"},
        "shift": {"unused": "shift-unused"},
    },
    FeedForwardChoices: {
        "activation": {
            "gelu-tanh": "tanh-gelu",
            "gelu-sigmoid": "sigmoid-gelu",
            "relu": "relu-for-gelu",
            "leaky-relu": "leaky-relu-for-gelu",
            "elu": "elu-for-gelu",
            "silu": "silu-for-gelu",
            "tanh": "tanh-for-gelu",
            "sigmoid": "sigmoid-for-gelu",
            "cdf": "gelu-without-x",
            "none": "no-activation",
        },
        "place": {
            "after": "activation-after-second-layer",
            "before": "activation-before-first-layer",
            "twice": "activation-twice",
        },
        "mixing": {"sequence": "ffn-across-sequence"},
        "first_bias": {"unused": "first-bias-unused"},
        "second_bias": {"unused": "second-bias-unused"},
        "residual": {"added": "residual-inside-ffn"},
    },
    AttentionChoices: {
        "scale": {
            "none": "scale-missing",
            "dk": "scale-by-dk",
            "sqrt-d": "scale-by-sqrt-d",
            "times": "scale-multiplied",
        },
        "softmax": {
            "queries": "softmax-over-queries",
            "heads": "softmax-over-heads",
            "none": "softmax-missing",
        },
        "split": {"reshaped": "heads-split-by-reshape"},
        "merge": {"reshaped": "heads-merged-by-reshape"},
        "heads": {"one": "single-head"},
        "out": {"unused": "output-projection-missing"},
        "mask": {"causal": "causal-mask"},
        "scores": {"kq": "queries-and-keys-swapped"},
        "values": {"k": "keys-as-values", "q": "queries-as-values", "x": "input-as-values"},
        "batch": {"second": "batch-and-tokens-swapped"},
    },
    WiringChoices: {
        "norm": {"post": "post-norm", "branch": "norm-on-branch-output", "none": "norms-missing"},
        "norms": {
            "only-first": "norm2-missing",
            "only-second": "norm1-missing",
            "swapped": "norms-swapped",
            "first-twice": "norm1-used-twice",
            "second-twice": "norm2-used-twice",
        },
        "first": {
            "normalised": "residual-normalised-attention",
            "none": "missing-residual-attention",
            "doubled": "residual-doubled-attention",
        },
        "second": {
            "normalised": "residual-normalised-ffn",
            "none": "missing-residual-ffn",
            "doubled": "residual-doubled-ffn",
            "input": "residual-from-block-input",
        },
        "order": {"ffn-first": "sublayers-swapped", "parallel": "sublayers-parallel"},
        "sublayers": {"no-attention": "attention-unused", "no-ffn": "ffn-unused"},
        "last": {"norm1": "extra-norm-at-end", "norm2": "extra-norm-at-end"},
    },
}

Choices = TypeVar("Choices", NormChoices, FeedForwardChoices, AttentionChoices, BlockChoices)


@dataclass(frozen=True)
class Change:
    """One choice made otherwise than in the lesson.

    Attributes:
        part: field of `BlockChoices` that holds the choice; empty for the choices of a part.
        choice: name of the choice.
        option: what it is set to.
        misconception: its id.
    """

    part: str
    choice: str
    option: str
    misconception: str

    @property
    def place(self) -> tuple[str, str]:
        """What is set; two changes of one place exclude each other."""
        return self.part, self.choice


def changes_of(kind: type) -> list[Change]:
    """Every single change of a class of choices, of a block's parts too."""
    if kind is BlockChoices:
        parts = dataclasses.fields(BlockChoices)
        defaults = {part.name: type(getattr(BlockChoices(), part.name)) for part in parts}
        return [
            dataclasses.replace(change, part=name)
            for name, inner in defaults.items()
            for change in changes_of(inner)
        ]
    return [
        Change("", choice, option, name)
        for choice, options in MISCONCEPTIONS[kind].items()
        for option, name in options.items()
    ]


def pairs_of(changes: list[Change]) -> Iterator[tuple[Change, Change]]:
    """Two changes of different places."""
    return ((a, b) for a, b in itertools.combinations(changes, 2) if a.place != b.place)


def changed(choices: Choices, changes: tuple[Change, ...]) -> Choices:
    """Choices with some changes made."""
    for change in changes:
        if change.part:
            part = _with(getattr(choices, change.part), change.choice, change.option)
            choices = _with(choices, change.part, part)
        else:
            choices = _with(choices, change.choice, change.option)
    return choices


def _with(choices: Any, name: str, value: object) -> Any:
    return dataclasses.replace(choices, **{name: value})
