"""The comparison whose report is in the gallery: two searches and a learner on predator-prey."""

from rolecast import Experiment, LearnerMethod, SearchMethod

EXPERIMENT = Experiment(
    name="hunters",
    summary="Two searches and a learner on predator-prey",
    tasks=("pred_prey_3",),
    methods=(
        SearchMethod(optimizer="dss_gp_ucb"),
        SearchMethod(optimizer="cmaes"),
        LearnerMethod(algorithm="facmac", settings={"size": "small"}),
    ),
    seeds=3,
    env_steps=100_000,
    points=10,
)
