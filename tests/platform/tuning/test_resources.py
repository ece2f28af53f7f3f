"""A trial asks for the CPUs and the GPU that it takes, and is refused where they are not there."""

from pathlib import Path

import pytest

from rolecast.core.errors import RequestError
from rolecast.core.threads import available_cores
from rolecast.platform.tuning.comparison import compare
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.resources import cluster_cpus, method_device, trial_resources

ON_GPU = SearchMethod(optimizer="local_gp", optimizer_settings={"device": "cuda"})
CPU, GPU = {"CPU": 1.0}, {"GPU": 1.0}


def test_only_a_search_whose_settings_name_a_gpu_needs_one() -> None:
    methods = ON_GPU, SearchMethod(optimizer="local_gp"), SearchMethod(optimizer="cmaes")
    assert [method_device(method) for method in methods] == ["cuda", "cpu", "cpu"]
    assert method_device(LearnerMethod(algorithm="sac")) == "cpu"


def test_the_gpu_is_where_the_optimizer_is() -> None:
    """In the trial's own process, or, where that has workers, in an actor beside it."""
    assert trial_resources(0).bundles == [CPU]
    assert trial_resources(2).bundles == [CPU, CPU, CPU]
    assert trial_resources(0, "cuda").bundles == [{**CPU, **GPU}]
    assert trial_resources(2, "cuda").bundles == [CPU, GPU, CPU, CPU]


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray.*")
def test_a_cluster_without_a_gpu_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    experiment = Experiment(name="gpu", tasks=("pred_prey_3",), methods=(ON_GPU,), env_steps=9_000)
    out = tmp_path / "out"
    with pytest.raises(RequestError, match="device is 'cuda'; expected cpu, for the cluster has"):
        compare(experiment, out=out, workers=1)
    assert not out.exists()


def test_a_cluster_that_is_started_has_room_for_a_trial() -> None:
    cores = available_cores()
    assert cluster_cpus(None, 0) == cores
    assert cluster_cpus(None, cores) == cores + 1
    assert cluster_cpus(3, 2) == 9


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.filterwarnings("ignore::FutureWarning:ray.*")
def test_a_cluster_too_small_for_a_trial_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    methods = (SearchMethod(optimizer="random", policy="linear"),)
    experiment = Experiment(
        name="wide", tasks=("pred_prey_3",), methods=methods, env_steps=9_000, workers=2
    )
    out = tmp_path / "out"
    with pytest.raises(RequestError, match=r"workers is 2; expected less than the 2 CPUs of the"):
        compare(experiment, out=out)
    assert not out.exists()
