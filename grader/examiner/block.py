"""An encoder block under examination: sent weights, its parts, and how they are wired.

A part is known by the stub's name or, failing that, by the parameters it owns.  The wiring is
read off what each part receives and returns.  Where parts cannot be looked at, because
everything is written into one forward, the block's output is compared with the formula's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

from grader.examiner import block_messages as say
from grader.examiner.answers import Answer, fail
from grader.examiner.block_runs import Memory, Runs
from grader.examiner.checks import Draw, close, expect_like
from grader.examiner.module import Module
from grader.examiner.parts import Flow, Part, common_owner
from grader.examiner.telling import shows_attention, shows_feed_forward, shows_norm
from grader.lesson.block_readings import MAX_READINGS, block_roles
from grader.lesson.choices import BlockChoices
from grader.lesson.encoder import encoder_block
from grader.lesson.mathematics import GELUS, Norm, attention, feed_forward, layer_norm
from grader.lesson.parameter_names import module_of
from grader.lesson.roles import BlockRoles, FeedForwardRoles, NormRoles

# Milestone 2 is about the form of GELU; here either counts as right.
EITHER_GELU = tuple(BlockChoices(ffn=choices) for choices in GELUS)
# What a check of the wiring answers when the parts cannot be looked at.
UNSEEN = ""


class BlockUnderTest:
    """A block of the student's, with weights drawn for it.

    Args:
        module: the block.
        draw: source of the weights.
        d: features of a token.
        h: attention heads.
        f: features inside the feed-forward network.
    """

    def __init__(self, module: Module, draw: Draw, d: int, h: int, f: int) -> None:
        self.module = module
        self.d = d
        self.h = h
        self._runs = Runs(self.with_weights)
        self._matching = Memory[bool]()
        roles = block_roles(tuple(module.shapes.items()), d, h, f)
        self._ffns, self._attentions, self._norms = roles.ffns, roles.attentions, roles.norms
        self.sent = self._without_extras(draw.weights(module.shapes))

    def with_weights(self) -> Module:
        """The block after its weights were sent."""
        self.module.write(self.sent)
        return self.module

    def norms(self) -> tuple[NormRoles, NormRoles]:
        """Parameters of the first and the second norm, in the likeliest reading."""
        return self._norms[0]

    def run_with_zero_sublayers(self, x: Tensor, upstream: Tensor | None = None) -> Answer:
        """A run when attention and feed-forward network have zero weights.

        Where the norms' parameters can be told in several ways, one that leaves x unchanged
        is preferred.

        Args:
            x: input.
            upstream: gradient of the loss with respect to the output.
        """
        for first, second in self._norms:
            kept = first.names | second.names
            self.module.write(
                {n: v if n in kept else torch.zeros_like(v) for n, v in self.sent.items()}
            )
            answer = self.module.run(x, upstream=upstream)
            if close(answer.tensor, x):
                break
        return answer

    def expect_wired(self, x: Tensor, wrong: str | None, half: str) -> None:
        """One connection of the wiring is right.

        Args:
            x: the input that was used.
            wrong: `None` if it was seen to be right, a message if it was seen to be wrong,
                `UNSEEN` if it could not be seen.
            half: `first` or `second`, the sublayer that it belongs to.

        Raises:
            StudentFaultError: if it is wrong.
        """
        if wrong is None or self.matches_formula(x):
            return
        if wrong == UNSEEN and half == "first" and self._first_half_matches(x):
            return
        raise fail(wrong or say.NOT_THE_FORMULA)

    def matches_formula(self, x: Tensor) -> bool:
        """Tell whether for some reading of the parameters the output is the formula's."""
        output = self.plain_run(x).tensor
        expect_like(output, x, "The output of EncoderBlock")
        return self._matching.once(x, lambda: self._matches(output, x))

    def _matches(self, output: Tensor, x: Tensor) -> bool:
        return any(
            close(output, encoder_block(x, roles.read(self.sent, self.d, self.h), choices))
            for roles, choices in itertools.product(self._readings(), EITHER_GELU)
        )

    def attention_input_wrong(self, x: Tensor) -> str | None:
        """Look at what the attention receives; see `expect_wired` for the answer."""
        flow = self._flow(x, self._attention_part)
        if flow is None:
            return UNSEEN
        norm = self._flow(x, self._norm_part(0))
        if norm and close(norm.received, x) and close(flow.received, norm.returned):
            return None
        if any(close(flow.received, layer_norm(x, n)) for n in self._first_norms()):
            return None
        return say.ATTENTION_GETS_RAW if close(flow.received, x) else say.ATTENTION_GETS_OTHER

    def first_residual_wrong(self, x: Tensor) -> str | None:
        """Look at the sum after the attention; see `expect_wired` for the answer."""
        flow = self._flow(x, self._attention_part)
        streams = self._streams_before_ffn(x)
        if flow is None or not streams:
            return UNSEEN
        if any(close(stream, x + flow.returned) for stream in streams):
            return None
        alone = any(close(stream, flow.returned) for stream in streams)
        return say.NO_FIRST_RESIDUAL if alone else say.OTHER_FIRST_RESIDUAL

    def ffn_input_wrong(self, x: Tensor) -> str | None:
        """Look at what the feed-forward network receives; see `expect_wired`."""
        flow = self._flow(x, self._ffn_part)
        if flow is None:
            return UNSEEN
        streams = self._streams_before_ffn(x)
        for received, returned in self._like(x, self._norm_calls(x, 1)):
            if close(flow.received, returned) and not close(received, x):
                return None
        attended = self._flow(x, self._attention_part)
        expected = [*streams, x + attended.returned] if attended else streams
        norms = self._second_norms()
        for stream, second in itertools.product(expected, norms):
            if not close(stream, x) and close(flow.received, layer_norm(stream, second)):
                return None
        raw = attended is not None and close(flow.received, x + attended.returned)
        return say.FFN_GETS_RAW if raw else say.FFN_GETS_OTHER

    def second_residual_wrong(self, x: Tensor) -> str | None:
        """Look at the sum after the feed-forward network; see `expect_wired`."""
        flow = self._flow(x, self._ffn_part)
        if flow is None:
            return UNSEEN
        output = self.plain_run(x).tensor
        attended = self._flow(x, self._attention_part)
        streams = [x + attended.returned] if attended else []
        streams += [received for received, _ in self._like(x, self._norm_calls(x, 1))]
        if any(close(output, stream + flow.returned) for stream in streams):
            return None
        return say.NO_SECOND_RESIDUAL if close(output, flow.returned) else say.OTHER_SECOND_RESIDUAL

    def parts_seen_right(self, x: Tensor) -> frozenset[str]:
        """Which of attention, ffn and norm were seen to compute the lesson's formula."""
        attended, fed = self._flow(x, self._attention_part), self._flow(x, self._ffn_part)
        right = set()
        if attended and any(
            close(attended.returned, attention(attended.received, roles.read(self.sent), self.h))
            for roles in self._attentions
        ):
            right.add("attention")
        if fed and any(
            close(fed.returned, feed_forward(fed.received, roles.read(self.sent)))
            for roles in self._ffns
        ):
            right.add("ffn")
        if all(self._norm_seen_right(x, index) for index in (0, 1)):
            right.add("norm")
        return frozenset(right)

    def _norm_seen_right(self, x: Tensor, index: int) -> bool:
        norm = self.norms()[index].read(self.sent, self.d)
        calls = self._like(x, self._norm_calls(x, index))
        return bool(calls) and all(close(b, layer_norm(a, norm)) for a, b in calls)

    def expect_norms_normalise(self, x: Tensor) -> None:
        """Each norm computes LayerNorm of what it receives, with its gain and shift.

        Raises:
            StudentFaultError: if one does not.
        """
        for index, name in enumerate(("norm1", "norm2")):
            part = self._norm_part(index)
            calls = self._norm_calls(x, index)
            norm = self.norms()[index].read(self.sent, self.d)
            if not calls and self.matches_formula(x):
                return
            if self._watched(x) is None:
                raise fail(say.OTHERWISE_WHEN_SEEN)
            if part and not calls:
                raise fail(f"{name} is there, but it is never called. See slide 34.")
            if not calls:
                raise fail(f"{name} was not found. The block needs two norms. See slide 34.")
            if not all(shows_norm(*call, norm) for call in calls):
                raise fail(
                    f"What {name} returns is not LayerNorm of what it receives, over the d "
                    "features of each token. See slides 5 and 7."
                )

    def expect_attention(self, x: Tensor) -> None:
        """The attention computes the lesson's formula for what it receives.

        Raises:
            StudentFaultError: if it does not.
        """
        if self.matches_formula(x):
            return
        flow = self._flow(x, self._attention_part)
        if flow is not None:
            expect_like(flow.returned, flow.received, "The output of attn")
            weights = [roles.read(self.sent) for roles in self._attentions]
            if flow.received.dim() == 3 and shows_attention(flow, weights, self.h):
                return
        if self._first_half_matches(x):
            return
        raise fail(
            "The attention does not compute softmax(Q K^T / sqrt(dk)) V for each head, followed "
            "by the output projection. See slide 37."
        )

    def expect_feed_forward(self, x: Tensor) -> None:
        """The feed-forward network computes the lesson's formula for what it receives.

        Both forms of GELU count as right: milestone 2 is about the difference.

        Raises:
            StudentFaultError: if it does not.
        """
        if self.matches_formula(x):
            return
        flow = self._flow(x, self._ffn_part, same_shape=False)
        weights = [roles.read(self.sent) for roles in self._ffns]
        if flow is None or not shows_feed_forward(flow, weights):
            raise fail(
                "The feed-forward network inside the block does not compute "
                "W2 GELU(W1 x + b1) + b2. See slides 24 and 37."
            )

    def _readings(self) -> Iterator[BlockRoles]:
        every = itertools.product(self._ffns, self._attentions, self._norms)
        for ffn, attended, (first, second) in itertools.islice(every, MAX_READINGS):
            if not ffn.names & (first.names | second.names):
                yield BlockRoles(first, attended, second, ffn)

    def _without_extras(self, drawn: dict[str, Tensor]) -> dict[str, Tensor]:
        """Zero vectors that play no part: an additional bias costs the parameter count only."""
        first = next(self._readings(), None)
        if first is None:
            return drawn
        return {
            name: torch.zeros_like(value) if value.dim() == 1 and name not in first.names else value
            for name, value in drawn.items()
        }

    def _first_half_matches(self, x: Tensor) -> bool:
        """Tell whether x + attn(norm1(x)) comes out when the feed-forward network is zero."""
        zeroed = self._ffns[0].names if self._ffns else frozenset()
        self.module.write(
            {n: torch.zeros_like(v) if n in zeroed else v for n, v in self.sent.items()}
        )
        output = self.module.run(x).tensor
        expect_like(output, x, "The output of EncoderBlock")
        return any(
            close(output, x + attention(layer_norm(x, norm), roles.read(self.sent), self.h))
            for norm, roles in itertools.product(self._first_norms(), self._attentions)
        )

    def _first_norms(self) -> list[Norm]:
        return [first.read(self.sent, self.d) for first, _ in self._norms]

    def _second_norms(self) -> list[Norm]:
        return [second.read(self.sent, self.d) for _, second in self._norms]

    def _streams_before_ffn(self, x: Tensor) -> list[Tensor]:
        """Candidates for the residual stream between the sublayers, as far as they are seen."""
        ffn = self._flow(x, self._ffn_part)
        streams = [received for received, _ in self._like(x, self._norm_calls(x, 1))]
        streams += [ffn.received, self.plain_run(x).tensor - ffn.returned] if ffn else []
        return streams

    @cached_property
    def _attention_part(self) -> Part | None:
        names = self._attentions[0].names if self._attentions else frozenset()
        return self._part("attn", names)

    @cached_property
    def _ffn_part(self) -> Part | None:
        if not self._ffns:
            return self._part("ffn", frozenset())
        whole = self._part("ffn", self._ffns[0].names)
        return whole or self._linear_pair(self._ffns[0])

    def _linear_pair(self, roles: FeedForwardRoles) -> Part | None:
        entry, leave = module_of(roles.w1), module_of(roles.w2)
        return Part(entry, leave) if entry and leave else None

    def _norm_part(self, index: int) -> Part | None:
        return self._part(("norm1", "norm2")[index], self.norms()[index].names)

    @staticmethod
    def _like(x: Tensor, calls: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
        """Those of a child's calls whose tensors have the shape of x."""
        return [call for call in calls if {call[0].shape, call[1].shape} == {x.shape}]

    def _norm_calls(self, x: Tensor, index: int) -> list[tuple[Tensor, Tensor]]:
        """What a norm received and returned in each of its calls."""
        part, answer = self._norm_part(index), self._watched(x)
        return answer.calls(part.entry) if part and answer else []

    def _part(self, stub_name: str, names: frozenset[str]) -> Part | None:
        """The child with the stub's name, else the smallest one that owns all the parameters."""
        if stub_name in self.module.children:
            return Part(stub_name, stub_name)
        owner = common_owner(names)
        return Part(owner, owner) if owner in self.module.children else None

    def _flow(self, x: Tensor, part: Part | None, same_shape: bool = True) -> Flow | None:
        """What a part received and returned, if it was called once on tensors like x.

        Args:
            x: input of the block.
            part: where to look.
            same_shape: the tensors must have the shape of x, not only its last size.
        """
        if part is None:
            return None
        answer = self._watched(x)
        if answer is None:
            return None
        entries, leaves = answer.calls(part.entry), answer.calls(part.exit)
        if len(entries) != 1 or len(leaves) != 1:
            return None
        received, returned = entries[0][0], leaves[0][1]
        shapes = {received.shape, returned.shape}
        if same_shape and shapes != {x.shape}:
            return None
        if len(shapes) > 1 or received.dim() == 0 or received.shape[-1] != self.d:
            return None
        return Flow(received, returned)

    def _watched(self, x: Tensor) -> Answer | None:
        """One run on x with every part in view.

        `None` if the output is another one than with nobody looking on: what is seen then says
        nothing of the block.

        Raises:
            StudentFaultError: if the output is not like x.
        """
        parts = [self._attention_part, self._ffn_part, self._norm_part(0), self._norm_part(1)]
        watch = sorted({name for part in parts if part for name in (part.entry, part.exit)})
        seen = self._runs.watched(x, watch)
        if seen is not None:
            expect_like(seen.tensor, x, "The output of EncoderBlock")
        return seen

    def plain_run(self, x: Tensor) -> Answer:
        """One run on x with nobody looking on, the same whenever it is asked for."""
        return self._runs.plain(x)
