"""What the tests of the page share: a server, a browser, and a page that is opened and looked at."""
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

    def tearDown(self):
        page = getattr(self, "page", None)
        if page:
            self.assertEqual(page.complaints, [], "the console is silent: no error, nothing refused by the policy")
            away = [one for one in page.requests if not one.startswith(("http://127.0.0.1:", "about:", "data:"))]
            self.assertEqual(away, [], "no request leaves this machine")

    def ids(self):
        return self.page.run("[...document.querySelectorAll('.column:first-of-type .hit')].map((e) => e.querySelector('.origin').textContent)")
