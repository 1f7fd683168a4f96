"""What is said of a block whose parts are not connected as they should be."""

ATTENTION_GETS_RAW = (
    "attn receives the block's input as it is. In pre-norm the sublayer receives norm1(x). See "
    "slides 16 and 34."
)
ATTENTION_GETS_OTHER = "attn does not receive norm1(x), where x is the block's input. See slide 34."
FFN_GETS_RAW = (
    "ffn receives the residual stream as it is. In pre-norm the sublayer receives norm2(x). See "
    "slides 16 and 34."
)
FFN_GETS_OTHER = (
    "ffn does not receive norm2(x), where x already holds the attention's result. See slide 34."
)
NO_FIRST_RESIDUAL = "After attn the block's input x is not added back. See slides 18 and 34."
OTHER_FIRST_RESIDUAL = "After attn the sum is not x + attn(norm1(x)). See slide 34."
NO_SECOND_RESIDUAL = "After ffn the residual stream x is not added back. See slides 18 and 34."
OTHER_SECOND_RESIDUAL = (
    "The output is not x + ffn(norm2(x)), x being the stream after attn. See slide 34."
)
NOT_THE_FORMULA = (
    "The output differs from that of x = x + attn(norm1(x)), then x = x + ffn(norm2(x)). See "
    "slide 34."
)
OTHERWISE_WHEN_SEEN = (
    "The output of EncoderBlock is another one when its parts are looked at, for the same input "
    "and weights. It must not depend on hooks or on how often it was called."
)
