"""MuJoCo models of the bodies: files of Gymnasium, and generated chains of segments.

Source of the chains: `many_segment_ant` and `many_segment_swimmer` of gymnasium-robotics 1.4 (first
in FACMAC, Peng et al. 2021); lengths in metres, angles in degrees.
"""

from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, SubElement, parse, tostring

import gymnasium
import mujoco

from rolecast.envs.mujoco.robots import Robot

ASSETS_FOLDER: Final = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"

FIRST_LEGS: Final = (((0.2, 0.2), (0.2, 0.2), "-1 1 0"), ((0.2, -0.2), (0.2, -0.2), "1 1 0"))
"""Legs of an ant's first segment: place of the hip, direction of the leg, axis of the ankle."""

OTHER_LEGS: Final = (((0.0, 0.2), (-0.2, 0.2), "1 1 0"), ((0.0, -0.2), (-0.2, -0.2), "-1 1 0"))
"""Legs of all other segments."""


def load_model(robot: Robot) -> Any:
    """Return the `mujoco.MjModel` of a body."""
    if not robot.segments:
        return mujoco.MjModel.from_xml_path(str(ASSETS_FOLDER / robot.asset))
    return mujoco.MjModel.from_xml_string(segmented_xml(robot))


def segmented_xml(robot: Robot) -> str:
    """Return the MJCF text of a body with segments."""
    root = parse(ASSETS_FOLDER / robot.asset).getroot()
    torso = root.find("worldbody/body[@name='torso']")
    actuator = root.find("actuator")
    assert torso is not None  # both are in Gymnasium's files
    assert actuator is not None
    for motor in list(actuator):
        actuator.remove(motor)
    for part in torso.findall("body"):
        torso.remove(part)
    joints = _grow_ant(torso, robot) if robot.asset == "ant.xml" else _grow_swimmer(torso, robot)
    for joint in joints:
        SubElement(actuator, "motor", ctrllimited="true", ctrlrange="-1 1", joint=joint, gear="150")
    return tostring(root, encoding="unicode")


def _grow_ant(torso: Element, robot: Robot) -> list[str]:
    """Add segments of two legs each, one behind the other; return the hinges' names."""
    for sphere in torso.findall("geom"):
        torso.remove(sphere)
    names, segment = [], torso
    for index in range(robot.segments):
        if index:
            segment = SubElement(segment, "body", name=f"torso_{index}", pos="-1 0 0")
            SubElement(
                segment, "geom", density="100", fromto="1 0 0 0 0 0", size="0.1", type="capsule"
            )
        for side, leg in enumerate(OTHER_LEGS if index else FIRST_LEGS, start=1):
            names += _leg(segment, f"{side}_{index}", *leg, front=not index)
    return names


def _leg(
    segment: Element,
    name: str,
    hip: tuple[float, float],
    way: tuple[float, float],
    axis: str,
    *,
    front: bool,
) -> list[str]:
    """Add a leg of two hinges; return their names."""
    upper = SubElement(segment, "body", name=f"leg{name}", pos="0 0 0")
    _limb(upper, hip)
    middle = SubElement(upper, "body", name=f"aux{name}", pos=f"{hip[0]} {hip[1]} 0")
    SubElement(middle, "joint", name=f"hip{name}", axis="0 0 1", range="-30 30", type="hinge")
    _limb(middle, way)
    lower = SubElement(middle, "body", name=f"foot{name}", pos=f"{way[0]} {way[1]} 0")
    bend = "30 70" if front else "-70 -30"
    SubElement(lower, "joint", name=f"ankle{name}", axis=axis, range=bend, type="hinge")
    _limb(lower, (2 * way[0], 2 * way[1]))
    return [f"hip{name}", f"ankle{name}"]


def _limb(body: Element, end: tuple[float, float]) -> None:
    SubElement(body, "geom", fromto=f"0 0 0 {end[0]} {end[1]} 0", size="0.08", type="capsule")


def _grow_swimmer(torso: Element, robot: Robot) -> list[str]:
    """Add links, one behind the other; return the names of the hinges between them."""
    link, names = torso, []
    for index in range(robot.segments):
        link = SubElement(link, "body", name=f"link{index}", pos="-1 0 0" if index else "0.5 0 0")
        SubElement(link, "geom", density="1000", fromto="0 0 0 -1 0 0", size="0.1", type="capsule")
        # Inner links turn to alternate sides, the first and the last to the left.
        inner = 0 < index < robot.segments - 1
        axis = "0 0 -1" if inner and index % 2 == 0 else "0 0 1"
        names.append(f"rot{index}")
        SubElement(
            link,
            "joint",
            name=names[-1],
            axis=axis,
            limited="true",
            range="-100 100",
            type="hinge",
        )
    return names
