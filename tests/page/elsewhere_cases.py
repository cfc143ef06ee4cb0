"""A search taken elsewhere: as curl, as Python, as a command, and run."""
import glob
import json
import os
import shlex
import subprocess
import urllib.parse

import case
from case import PageTest

PACKAGES = os.environ.get("BRAID_PACKAGES", "")
PYTHON = os.environ.get("BRAID_PYTHON", "") if glob.glob(os.path.join(PACKAGES or "nowhere", "braid", "_braid*.so")) else ""


class Elsewhere(PageTest):
    def copies(self):
        """The present search as curl, Python and a command."""
        self.page.run("[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('Copy')).click()")
        self.page.wait("document.querySelectorAll('dialog pre').length === 3")
        return self.page.texts("dialog pre")

    def run_curl(self, text, **environment):
        done = subprocess.run(["sh", "-c", text.replace("curl ", "curl -s ", 1)], capture_output=True, text=True, check=True, env={**os.environ, **environment})
        return [one["chunk_id"] for one in json.loads(done.stdout)["chunks"]]

    def run_command(self, text):
        words = shlex.split(text.replace("\\\n", " "))
        done = subprocess.run([case.BRAID, "--data", case.world.data, "--json", *words[1:]], capture_output=True, text=True, check=True)
        return [one["chunk_id"] for one in json.loads(done.stdout)["chunks"]]

    def run_python(self, text, **environment):
        if not PYTHON:
            self.skipTest("the Python package is not built (cmake -DBRAID_PYTHON_BINDINGS=ON): its copy was not run")
        done = subprocess.run([PYTHON, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PACKAGES, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split(" ", 2)[2] for line in done.stdout.splitlines()]

    SEARCHES = (("it's a fox", "&c=animals&strategy=sparse&top=5&f.kind=%5B%22guide%22%5D"),
                ("owl in winter", "&c=animals,birds&fusion=weighted_sum&weight=0.4&depth=20&typos=off"),
                ("-fox $(true) `true` \"crane\" \\ marsh", "&c=animals&fusion=dbsf&f.kind=%5B%22guide%22,%22note%22%5D&f.year=%5B2001%5D"),
                ("heron or crane", "&c=animals,birds&top=20&f.year=%5B%7B%22$gte%22:2001,%22$lte%22:2002%7D%5D"),
                ("+crane -marsh", "&c=birds&strategy=sparse&syntax=true&top=5"))

    def test_gives_the_search_for_elsewhere(self):
        for query, rest in self.SEARCHES:
            with self.subTest(query=query):
                page = self.search(urllib.parse.quote_plus(query), rest)
                here = self.page.run("[...document.querySelectorAll('.hit')].map((e) => e.querySelector('.origin').firstChild.textContent)")
                curl, python, command = self.copies()
                self.assertIn("braid.connect(", python)
                self.assertEqual(self.run_curl(curl), here)
                self.assertEqual(self.run_command(command), here)
                box = page.run("[...document.querySelectorAll('dialog .form button')].every((e) => e.getBoundingClientRect().right <= document.querySelector('dialog').getBoundingClientRect().right)")
                self.assertTrue(box, "the buttons are to be seen")

    def test_gives_the_search_as_python(self):
        for query, rest in self.SEARCHES:
            with self.subTest(query=query):
                self.search(urllib.parse.quote_plus(query), rest)
                here = self.page.run("[...document.querySelectorAll('.hit')].map((e) => e.querySelector('.origin').firstChild.textContent)")
                self.assertEqual(self.run_python(self.copies()[1]), here)

    def test_copies_nothing_that_a_shell_would_run(self):
        page = self.open("/#q=%24%28touch+x%29&c=%3Btouch%20y&ns=a%20b%27c")
        page.wait("document.querySelector('.state.error')")
        _, _, command = self.copies()
        self.assertEqual(shlex.split(command.replace("\\\n", " ")), ["braid", "retrieve", "--collection", ";touch y", "--namespace", "a b'c", "--top-k", "10", "--", "$(touch x)"])
