"""Parties apart: they repeat what they are asked again, catch up, and refuse what is not theirs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.search.bandit.functions import make_function
from rolecast.platform.search.bandit.parties import AgentsParty, ServerParty

BRANIN = partial(make_function, "branin")
PROTOCOL = DuetsProtocol(
    domain=BRANIN().domain, kernel=StationaryKernel(lengthscale=0.2), agents=2, rounds=12, seed=1
)


def test_a_party_that_begins_anew_answers_none_until_it_has_caught_up() -> None:
    agents, server = AgentsParty(PROTOCOL, [0, 1], BRANIN), ServerParty(PROTOCOL)
    agents.query(1)
    inducing = server.inducing_set(1)
    assert inducing is not None
    sent = agents.project(1, inducing)
    assert sent is not None
    assert agents.project(1, inducing) == sent
    reply = server.aggregate(1, sent)
    assert reply is not None
    assert agents.trim(1, reply.message)
    assert agents.trim(1, reply.message)  # asked again, it has done so
    anew, server_anew = AgentsParty(PROTOCOL, [0, 1], BRANIN), ServerParty(PROTOCOL)
    assert anew.draw(2) is None
    assert anew.query(2) is None
    assert anew.project(1, inducing) is None  # its values are gone
    assert anew.trim(1, reply.message) is None
    assert server_anew.inducing_set(2) is None
    assert server_anew.aggregate(2, sent) is None
    for party in (anew, server_anew):
        party.catch_up([(inducing, reply.message)])
    for one, other in zip(agents.query(2) or (), anew.query(2) or (), strict=True):
        np.testing.assert_array_equal(one, other)
    assert server_anew.inducing_set(2) == server.inducing_set(2)


def test_a_message_of_another_run_or_kind_is_refused_and_nothing_is_lost() -> None:
    agents, server = AgentsParty(PROTOCOL, [0, 1], BRANIN), ServerParty(PROTOCOL)
    agents.query(1)
    inducing = server.inducing_set(1)
    assert inducing is not None
    other = ServerParty(replace(PROTOCOL, seed=2)).inducing_set(1)
    assert other is not None
    with pytest.raises(RequestError, match=r"InducingSet is of run .*; expected run"):
        agents.project(1, other)
    sent = agents.project(1, inducing)
    assert sent is not None
    with pytest.raises(RequestError, match="a message is Projection; expected InducingSet"):
        agents.project(1, sent[0])
    with pytest.raises(RequestError, match="a message is InducingSet; expected Projection"):
        server.aggregate(1, [inducing])
    with pytest.raises(RequestError, match="agent 0 sent two projections"):
        server.aggregate(1, [*sent, sent[0]])
    reply = server.aggregate(1, sent)
    assert reply is not None
    with pytest.raises(RequestError, match="a message is InducingSet; expected Aggregate"):
        agents.trim(1, inducing)
    assert agents.trim(1, reply.message)
