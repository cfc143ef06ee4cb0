"""Chromium, driven over a pipe: starts it, opens pages, types, clicks, looks. Standard library alone."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120  # seconds until something counts as lost: a machine may be slow, or busy with other things
# Keys that are not a character.
CODES = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, " ": 32}


def find():
    """The program, or None."""
    return os.environ.get("BRAID_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, program, *flags):
        self.profile = tempfile.mkdtemp(prefix="braid-page-")
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()

        def place():  # the ends that the browser expects as 3 and 4
            os.dup2(to_browser, 100)
            os.dup2(from_browser, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)
            for end in (100, 101):
                os.close(end)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
             "--disable-default-apps", "--metrics-recording-only", "--hide-scrollbars", "--mute-audio",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", *flags, "about:blank"],
            close_fds=False, preexec_fn=place,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.out = ours_out
        self.source = os.fdopen(ours_in, "rb", buffering=0)
        self.lock = threading.Condition()
        self.answers = {}
        self.listeners = {}
        self.next = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rest = b""
        while True:
            piece = self.source.read(1 << 16)
            if not piece:
                break
            *messages, rest = (rest + piece).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message:
                    with self.lock:
                        self.answers[message["id"]] = message
                        self.lock.notify_all()
                else:
                    listener = self.listeners.get(message.get("sessionId"))
                    if listener:
                        listener(message["method"], message["params"])

    def call(self, method, parameters=None, session=None, timeout=PATIENCE):
        with self.lock:
            self.next += 1
            number = self.next
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        with self.lock:
            if not self.lock.wait_for(lambda: number in self.answers, timeout):
                raise TimeoutError(f"{method} was not answered")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, **look):
        return Page(self, **look)

    def close(self):
        try:
            self.call("Browser.close", timeout=10)
        except (RuntimeError, TimeoutError, OSError):
            self.process.kill()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """One tab, in a context of its own: nothing is shared with other tabs."""

    def __init__(self, browser, width=1280, height=860, dark=False, phone=False):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", {"url": "about:blank", "browserContextId": self.context})["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.requests = []  # every address that was asked for
        self.flying = set()  # requests without an end yet
        self.cancelled = 0  # requests that the page called back
        self.complaints = []  # what the console says is wrong: errors, refusals by the policy
        browser.listeners[self.session] = self._heard
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.look(width, height, dark, phone)

    def look(self, width, height, dark=False, phone=False, calm=True):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}]})

    def _heard(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
            self.flying.add(parameters["requestId"])
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self.flying.discard(parameters["requestId"])
            self.cancelled += bool(parameters.get("canceled"))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            if entry["source"] != "network":  # a refused request is what some tests are about
                self.complaints.append(entry["text"])

    def call(self, method, parameters=None, timeout=PATIENCE):
        return self.browser.call(method, parameters, self.session, timeout)

    def go(self, address):
        self.flying.clear()  # those of the page before have nobody to wait for them
        self.call("Page.navigate", {"url": address})

    def run(self, script, timeout=PATIENCE):
        """The value of an expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True,
                                                "userGesture": True}, timeout)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]) + "\nin " + script)
        return answer["result"].get("value")

    def wait(self, script, what=None, timeout=PATIENCE):
        """Until the expression is true."""
        end = time.monotonic() + timeout
        while True:
            try:
                value = self.run(script)
            except RuntimeError as error:  # the page is on its way
                value, last = None, error
            else:
                last = None
            if value or value == {}:  # an element is an object without members
                return value
            if time.monotonic() > end:
                raise AssertionError(f"never came: {what or script}" + (f" ({last})" if last else ""))
            time.sleep(0.03)

    def wait_for(self, happened, what):
        """Until `happened()` is true, of what is heard here."""
        end = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > end:
                raise AssertionError(f"never came: {what}")
            time.sleep(0.03)

    def settle(self):
        """Until nothing is asked of the server any more, and what it said is shown."""
        end = time.monotonic() + PATIENCE
        calm = 0
        while calm < 2:
            self.run("new Promise((done) => { setTimeout(done, 100); requestAnimationFrame(() => requestAnimationFrame(done)); })")
            calm = 0 if self.flying else calm + 1
            if time.monotonic() > end:
                raise AssertionError(f"still asking: {self.requests[-3:]}")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText.trim())")

    def text(self, selector):
        return self.wait(f"document.querySelector({json.dumps(selector)})?.innerText.trim() ?? null", selector)

    def spot(self, selector):
        """The middle of what is there, once it stands still and nothing lies over it."""
        return self.wait(f"""(async () => {{
            const element = document.querySelector({json.dumps(selector)});
            if (!element) return null;
            element.scrollIntoView({{block: "center", behavior: "instant"}});
            const middle = () => {{
                const box = element.getBoundingClientRect();
                return box.width && element.isConnected ? [box.x + box.width / 2, box.y + box.height / 2] : null;
            }};
            const before = middle();
            for (let i = 0; i < 2; ++i) await Promise.race([new Promise(requestAnimationFrame), new Promise((done) => setTimeout(done, 100))]);
            const now = middle();
            if (!now || String(now) !== String(before) || !element.contains(document.elementFromPoint(...now))) return null;
            window.clicked = false;
            element.addEventListener("click", () => (window.clicked = true), {{once: true, capture: true}});
            return now;
        }})()""", f"a place to press: {selector}")

    def click(self, selector):
        """With the mouse; again, should it have moved away under it."""
        for _ in range(5):
            x, y = self.spot(selector)
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
            try:
                if self.run("window.clicked !== false"):
                    return
            except RuntimeError:  # it led to another page
                return
        raise AssertionError(f"{selector} moves away")

    def type(self, text):
        """Character by character, as fingers do."""
        for character in text:
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", "text": character, "key": character})
            self.call("Input.dispatchKeyEvent", {"type": "keyUp", "key": character})

    def type_fast(self, text):
        """Character by character, with no pause that anybody could notice, however slow the machine."""
        self.run(f"for (const one of {json.dumps(text)}) document.execCommand('insertText', false, one)")

    def press(self, key, shift=False):
        code = {"windowsVirtualKeyCode": CODES[key], "code": "Space" if key == " " else key} if key in CODES else {}
        event = {"key": key, "modifiers": 8 if shift else 0, **code}
        text = "\r" if key == "Enter" else key if len(key) == 1 else None
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event, **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def tab_to(self, selector):
        """By the tab key alone, from where the focus is."""
        for _ in range(150):
            if self.run(f"!!document.activeElement?.matches({json.dumps(selector)})"):
                return
            self.press("Tab")
        raise AssertionError(f"the tab key does not lead to {selector}")

    def drop(self, selector, paths):
        """Drags files or folders there with the mouse, and lets go."""
        x, y = self.spot(selector)
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y,
                                                  "data": {"items": [], "files": paths, "dragOperationsMask": 1}})

    def files(self, selector, paths):
        """Puts files into a file field, as its dialog would."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        self.call("DOM.setFileInputFiles", {"nodeId": node, "files": paths})

    def picture(self, path, whole=False, scale=1):
        kind = path.rsplit(".", 1)[1]
        clip = {}
        if scale != 1:
            clip = {"clip": {"x": 0, "y": self.run("scrollY"), "width": self.run("innerWidth"), "height": self.run("innerHeight"), "scale": scale}}
        answer = self.call("Page.captureScreenshot", {"format": kind, "captureBeyondViewport": whole, **clip,
                                                      **({"quality": 60} if kind == "webp" else {})})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        self.browser.call("Target.disposeBrowserContext", {"browserContextId": self.context})  # with its connections
