"""A page that shows the frames of a recorded episode, for tasks whose physics no page carries."""

from rolecast.platform.play.document import document, in_letters
from rolecast.platform.reports.film.encode import png
from rolecast.platform.reports.film.render import Rendering


def replay_page(rendering: Rendering) -> str:
    """Return the page of a drawn episode."""
    frames = [png([frame], rendering.frame_ms) for frame in rendering.frames]
    return document(
        "replay.html",
        title=rendering.description.partition(": ")[0],
        description=f"Held-out episode, {rendering.description}.",
        frames=[in_letters(frame) for frame in frames],
        frame_ms=rendering.frame_ms,
    )
