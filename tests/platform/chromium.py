"""Chromium without a window, told what to do through a pair of pipes."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")


class Browser:
    """One page of Chromium, by the DevTools protocol: JSON, each message ended by a zero."""

    def __init__(self, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        for end in (ours[0], theirs[1]):
            os.set_inheritable(end, True)
        # Chromium reads descriptor 3 and writes 4.
        shell = f'exec 3<&{ours[0]} 4>&{theirs[1]}; exec "$@"'
        command = ["bash", "-c", shell, "-", "chromium", *FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            command, pass_fds=(ours[0], theirs[1]), stderr=subprocess.DEVNULL
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._of = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb")
        self._sent, self._session = 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return what a method of the protocol answers."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._received())
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, page: Path) -> None:
        """Load a file."""
        self.call("Page.navigate", url=page.as_uri())

    def value(self, expression: str) -> Any:
        """Return the value of JavaScript in the page; of a promise, what it resolves to."""
        told = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until JavaScript is true in the page, ten seconds at most."""
        poll = f"""new Promise((done, fail) => {{
            const end = Date.now() + 10000;
            const look = () => {{
                let met = false;
                try {{ met = {condition}; }} catch (error) {{ if (Date.now() > end) fail(error); }}
                if (met || Date.now() > end) done(Boolean(met)); else setTimeout(look, 20);
            }};
            look();
        }})"""
        assert self.value(poll), f"not within ten seconds: {condition}"

    def mouse(self, kind: str, x: float, y: float, button: str = "left") -> None:
        """Move, press or release the mouse at a place of the page."""
        held = {"left": 1, "right": 2}[button]
        told = {"x": x, "y": y, "button": button, "buttons": held, "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, **told)

    def touch(self, kind: str, *fingers: tuple[float, float]) -> None:
        """Put fingers at places of the page, move them, or lift or lose them all."""
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)]
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def close(self) -> None:
        """End it."""
        self._session = ""
        self.call("Browser.close")
        self._process.wait(timeout=20)
        self._to.close()
        self._of.close()

    def _received(self) -> bytes:
        message = bytearray()
        while (byte := self._of.read(1)) != b"\0":
            assert byte, "Chromium has ended"
            message += byte
        return bytes(message)
