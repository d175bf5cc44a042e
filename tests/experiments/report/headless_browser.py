"""A real Chromium without a window, driven over the DevTools protocol through two pipes."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)


class Browser:
    """One page; `complaints` collects console errors and exceptions, `requests` every address it asked for."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = os.fdopen(to_browser, "wb"), os.fdopen(from_browser, "rb")
        self._last, self._rest, self._session = 0, b"", None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._events: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events that arrive meanwhile are noted."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = self._in.read1(1 << 16)
            if not chunk:
                raise RuntimeError("the browser has gone")
            self._rest += chunk
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, params: dict[str, Any]) -> None:
        self._events.append(event)
        if event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif event == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(params["args"]))
        elif event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, page: Path, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        """Open a file from disk in a window of this size and colour scheme, and wait until it has loaded."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._receive()

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, clicks: int = 0, held: bool = False) -> None:
        button = "left" if clicks or held else "none"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks, buttons=int(held))

    def click(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, clicks=1, held=True)
        self.mouse("mouseReleased", x, y, clicks=1)

    def tap(self, x: float, y: float) -> None:
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, clicks=1, held=True)
        self.mouse("mouseMoved", *end, held=True)
        self.mouse("mouseReleased", *end, clicks=1)

    def press(self, key: str, code: int, text: str = "") -> None:
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def headless_browser(profile: Path) -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it afterwards."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    # Chromium reads from descriptor 3 and writes to 4; high numbers first, so that neither is overwritten on the way.
    inherited = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (commands, answers)]
    script = f'exec "$0" "$@" 3<&{inherited[0]} 4>&{inherited[1]}'
    process = subprocess.Popen(
        ["bash", "-c", script, CHROMIUM, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=inherited,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (commands, answers, *inherited):
        os.close(end)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        process.terminate()
        process.wait(timeout=20)
