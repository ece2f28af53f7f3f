"""Messages as bytes: whole, to the last bit, and nothing beside their numbers and a header."""

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.duets.messages import Aggregate, InducingSet, Projection
from rolecast.platform.optimizers.duets.wire import MESSAGE_HEADER, Message, decode, encode

RUN = "00ff10aa5b6c7d8e"
NUMBERS = np.random.default_rng(0).standard_normal((5, 3))
MESSAGES = (
    InducingSet(RUN, 2, NUMBERS),
    Projection(RUN, 3, 7, NUMBERS[:, 0]),
    Aggregate(RUN, 4, NUMBERS[:, 1], 0.1),
)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_comes_as_it_was_sent_in_the_bytes_of_its_numbers(message: Message) -> None:
    data = encode(message)
    assert len(data) == MESSAGE_HEADER.size + 8 * message.reals
    received = decode(data)
    assert type(received) is type(message)
    for name, value in vars(message).items():
        np.testing.assert_array_equal(getattr(received, name), value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a message has 0 bytes; expected a header and numbers"),
        (encode(MESSAGES[0])[:-1], "kind 0 has 119 bytes of numbers; .* and 120 bytes"),
        (encode(MESSAGES[1]).replace(b"\1\0\0\0", b"\t\0\0\0", 1), "kind 9 has 40 bytes"),
    ],
    ids=["nothing", "half", "unknown"],
)
def test_bytes_that_are_no_message_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        decode(data)
