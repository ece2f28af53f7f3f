import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.tuning.rewards import reward_name, reward_options, task_with_reward


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dense", {}),
        ("sparse=5", {"sparse": 5}),
        ("sparse=2&delay=5", {"delay": 5, "sparse": 2}),
        ("noise=0.5", {"noise": 0.5}),
        ("sparse=1", {}),
    ],
)
def test_a_name_stands_for_settings_and_back(name: str, options: dict[str, object]) -> None:
    assert reward_options(name) == options
    assert reward_options(reward_name(name)) == options
    assert reward_name(options) == reward_name(name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("spars=5", "did you mean 'sparse'?"),
        ("dens", "did you mean 'dense'?"),
        ("sparse=0", "expected an integer >= 1"),
        ("sparse", "expected an integer >= 1"),
        ("", "expected 'dense', or settings"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        reward_options(name)
    assert sentence in str(refused.value)


def test_a_task_pays_as_the_name_says() -> None:
    task = task_with_reward("pred_prey_3?observation=full", "sparse=5")
    assert task.spec.id == "pred_prey_3?observation=full&sparse=5"
    with pytest.raises(RequestError, match="expected an id without reward settings"):
        task_with_reward("pred_prey_3?sparse=2", "dense")
