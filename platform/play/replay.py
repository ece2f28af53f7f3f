"""A page that shows the frames of a recorded episode, where no page plays task and policy."""

from rolecast.platform.play.document import document, in_letters
from rolecast.platform.reports.film.encode import png
from rolecast.platform.reports.film.render import Rendering


def replay_page(rendering: Rendering, *, policy: str, reason: str) -> str:
    """Return the page of a drawn episode.

    Args:
        rendering: of the run.
        policy: digest of the weights, by which a report knows the page of its policy.
        reason: why it is not played.
    """
    frames = [png([frame], rendering.frame_ms) for frame in rendering.frames]
    return document(
        "replay.html",
        policy=policy,
        reason=reason,
        title=rendering.description.partition(": ")[0],
        description=f"Held-out episode, {rendering.description}.",
        frames=[in_letters(frame) for frame in frames],
        frame_ms=rendering.frame_ms,
    )
