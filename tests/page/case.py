"""What the tests of the page share: a server, a browser, and a page that is opened and looked at."""
import json
import os
import subprocess
import unittest

import browser
from world import World

BRAID = ""
chromium = None
world = None

SHOWN = "document.querySelectorAll('.hit').length > 0 && !document.querySelector('.column[aria-busy]')"


def start(braid):
    global BRAID, chromium, world
    BRAID = braid
    world = World(braid)
    world.fill()
    chromium = browser.Browser(browser.find(), "--host-resolver-rules=MAP rebound.test 127.0.0.1")


def stop():
    chromium.close()
    world.close()


class PageTest(unittest.TestCase):
    def setUp(self):
        if world.server.poll() is not None:  # an earlier test failed while it was stopped
            world.start()

    def open(self, address="/", **look):
        page = chromium.page(**look)
        self.addCleanup(page.close)
        page.go(world.url + address)
        self.page = page
        return page

    def search(self, query, rest="", **look):
        page = self.open(f"/#q={query.replace(' ', '+')}{rest}", **look)
        page.wait(SHOWN, "hits")
        return page

    def hold(self):
        """The embedding endpoint answers nobody until `case.world.answering` is set, or the test is over."""
        world.answering.clear()
        self.addCleanup(world.answering.set)

    def with_key(self, address, grants, *flags, **look):
        """The page on a server with keys, after one with these grants was entered; gives the key."""
        keys = os.path.join(world.folder, f"{self.id()}-{len(grants)}-{'-'.join(grants)}.json".replace("*", "any"))
        words = [word for grant in grants for word in ("--grant", grant)]
        made = subprocess.run([BRAID, "keys", "add", "somebody", "--file", keys, *words, "--json"], capture_output=True, text=True, check=True)
        world.stop()
        world.start("--key-file", keys, *flags)
        page = self.open(address, **look)
        page.wait("document.querySelector('#api-key')", "the question for a key")
        key = json.loads(made.stdout)["key"]
        page.type(key)
        page.press("Enter")
        page.wait("!document.querySelector('#api-key')")
        return key

    def without_keys(self):
        world.stop()
        world.start()

    def tearDown(self):
        page = getattr(self, "page", None)
        if page:
            self.assertEqual(page.complaints, [], "the console is silent: no error, nothing refused by the policy")
            away = [one for one in page.requests if not one.startswith(("http://127.0.0.1:", "about:", "data:"))]
            self.assertEqual(away, [], "no request leaves this machine")

    def ids(self):
        return self.page.run("[...document.querySelectorAll('.column:first-of-type .hit')].map((e) => e.querySelector('.origin').textContent)")
