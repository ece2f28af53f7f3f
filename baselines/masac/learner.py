"""The losses of MASAC: those of SAC, of all agents together."""

from rolecast.baselines.sac.learner import SACLearner
from rolecast.baselines.sac.module import SACModule
from rolecast.baselines.teams import TeamLearner


class MASACLearner(SACLearner, TeamLearner[SACModule]):
    """Soft actor-critic of the joint action: twin critics of state and all actions.

    Every agent draws its action from the shared policy. The density of a joint action is the
    product of the agents' densities; alpha weighs its logarithm, the joint entropy. The policy
    gradient lets all agents act anew together, as FACMAC's does.

    Source: Haarnoja et al. (2018, algorithm 1), on joint actions.
    """

    # Equations 3 and 5 (critics), 7 and 9 (policy) and 18 (alpha) stand in SACLearner. Here a is
    # the joint action, and log pi(a | s) = sum_i log pi(a_i | o_i).
