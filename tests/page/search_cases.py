"""Searching, comparing, and taking a search elsewhere."""
import glob
import json
import os
import shlex
import subprocess
import time
import urllib.parse

import case
from case import PageTest, SHOWN

PACKAGES = os.environ.get("BRAID_PACKAGES", "")
PYTHON = os.environ.get("BRAID_PYTHON", "") if glob.glob(os.path.join(PACKAGES or "nowhere", "braid", "_braid*.so")) else ""


class Search(PageTest):
    def test_answers_while_one_types(self):
        page = self.open()
        page.text(".welcome h2")
        page.wait("document.activeElement.id === 'query'", "the box has the focus")
        page.type("heron of the marsh")
        page.wait("document.querySelector('.hit h2')?.innerText.startsWith('Heron of the marsh')", "the hit of the last word")
        page.wait("location.hash === '#q=heron+of+the+marsh'", "the question in the address")
        self.assertIn("10 hits", page.text(".status"))
        took = page.run("(() => { const at = (n) => performance.getEntriesByName(n).at(-1).startTime; return at('braid-shown') - at('braid-answer'); })()")
        print(f"{took:.0f} ms from the answer to the hits (bar: 100)")

    def test_cancels_what_is_stale(self):
        page = self.search("fox", "&c=animals")
        case.world.delay = 1.5  # of the embedding endpoint
        self.addCleanup(setattr, case.world, "delay", 0)
        page.run("document.querySelector('#query').focus()")
        page.type(" unheard")
        page.wait("document.querySelector('.column[aria-busy]')", "it waits for the endpoint")
        page.type(" of")
        page.wait("!document.querySelector('.column[aria-busy]')")
        self.assertGreaterEqual(page.cancelled, 1, "the older question was called back")
        self.assertEqual(page.run("document.title"), "fox unheard of · braid")

    def test_shows_receipts_as_pictures_that_open_into_arithmetic(self):
        page = self.search("fox in the orchard")
        self.assertEqual(page.run("document.querySelectorAll('.hit:first-child .strand').length"), 2)
        self.assertIn("dense rank", page.run("document.querySelector('.receipt-button').textContent"))
        page.click(".hit:first-child .receipt-button")
        text = page.text(".hit:first-child .arithmetic")
        self.assertIn("0.7 ÷ (60 + ", text)
        self.assertIn("the same bits", text)
        self.assertNotIn("✗", text)
        page.click(".hit:first-child .receipt-button")
        page.wait("document.querySelector('.hit:first-child .receipt').hidden")

    def test_recomputes_every_fusion(self):
        for method in ("rrf", "weighted_sum", "dbsf", "auto"):
            page = self.search("fox in the orchard", f"&c=animals&fusion={method}&top=5")
            page.run("document.querySelectorAll('.receipt-button').forEach((e) => e.click())")
            self.assertEqual(page.run("document.querySelectorAll('.proof:not(.broken)').length"), 5, method)
        self.assertIn("auto gave dense", page.text(".arithmetic"))

    def test_marks_the_words_that_match(self):
        page = self.search("foxes sleeping")
        page.wait("document.querySelectorAll('mark').length > 0", "marks")
        self.assertLessEqual({one.lower() for one in page.texts("mark")}, {"fox", "sleeps", "foxes"})
        page.wait("document.querySelector('.hit h2 mark')?.innerText === 'Fox'", "in the title too")

    def test_reranks_as_controls_move(self):
        page = self.search("fox winter roots")
        before = self.ids()
        page.run("document.querySelector('[data-control=weight]').focus()")
        for _ in range(14):
            page.press("ArrowLeft")
        page.wait("location.hash.includes('weight=0&') || location.hash.endsWith('weight=0')", "the weight in the address")
        page.wait(SHOWN)
        page.wait("document.querySelector('.hit .receipt-button').textContent.includes('dense rank') && /dense rank \\d+, 0 %|sparse rank \\d+, 100 %/.test(document.querySelector('.hit .receipt-button').textContent)", "sparse has all the weight")
        page.run("[...document.querySelectorAll('.segmented input')].find((e) => e.value === 'sparse').click()")
        page.wait("document.querySelectorAll('.leg').length === 1", "one leg")
        self.assertEqual(page.run("document.querySelectorAll('.hit:first-child .strand').length"), 1)
        page.run("const s = document.querySelector('[data-control=top]'); s.value = '5'; s.dispatchEvent(new Event('change'))")
        page.wait("document.querySelectorAll('.hit').length === 5")
        page.click(".reset")
        page.wait("document.querySelectorAll('.hit').length === 10")
        self.assertEqual(self.ids(), before)

    def test_filters_by_facets(self):
        page = self.search("winter", "&c=animals")
        page.wait("[...document.querySelectorAll('.filters label')].some((e) => e.innerText.includes('guide'))", "values of a field")
        page.run("[...document.querySelectorAll('.filters label')].find((e) => e.innerText.includes('guide')).querySelector('input').click()")
        page.wait("location.hash.includes('f.kind')")
        page.wait(SHOWN)
        page.wait("[...document.querySelectorAll('.hit .tags')].every((e) => e.innerText.includes('kind guide'))", "only guides")

    def test_pages(self):
        page = self.search("fox", "&strategy=sparse&c=animals&top=5")
        page.click(".more")
        page.wait("document.querySelectorAll('.hit').length === 10", "two pages")
        ranks = [int(one) for one in page.texts(".place")]
        self.assertEqual(ranks, list(range(1, 11)))
        page.click(".more")
        page.wait("document.querySelectorAll('.hit').length === 15 && document.querySelector('.more').hidden", "the last page")

    def test_shows_neighbours_and_the_whole_document(self):
        page = self.search("keepers count every otter in the quarry", "&c=animals")
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')][0].click()")
        page.wait("document.querySelectorAll('.hit:first-child .around p').length === 2", "a chunk on each side")
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')][1].click()")
        page.wait("document.querySelectorAll('dialog .chunk').length === 3", "the document")
        self.assertIn("count every otter", page.text("dialog .chunk.own"))
        page.press("Escape")
        page.wait("!document.querySelector('dialog')")

    def test_says_why_a_chunk_is_not_there_and_changes_it(self):
        page = self.search("fox", "&c=animals&strategy=sparse&top=5")
        last = next(one for one in ("fox-quarry#2", "fox-quarry#1", "fox-quarry#0") if one not in self.ids())
        page.run("[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('Why not')).click()")
        page.wait("document.activeElement.id === 'why-id'")
        page.type(last)
        page.press("Enter")
        self.assertIn("rank", page.text("dialog .arithmetic"))
        page.click("dialog .change button")
        page.wait(f"[...document.querySelectorAll('.hit .origin')].some((e) => e.textContent === {json.dumps(last)})", "the chunk is there now")

    def test_asks_why_of_all_collections_that_are_searched(self):
        page = self.search("fox", "&c=animals,wiki&strategy=sparse&top=5")
        page.run("window.asked = []; const real = window.fetch; window.fetch = (path, how) => { window.asked.push([path, how.body]); return real(path, how); }")
        page.run("[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('Why not')).click()")
        page.wait("document.activeElement.id === 'why-id'")
        page.type("fox-quarry#2")
        page.press("Enter")
        page.wait("window.asked.some(([path]) => path === '/v1/why_not')")
        asked = json.loads(page.run("window.asked.find(([path]) => path === '/v1/why_not')[1]"))
        self.assertEqual(asked["collections"], ["animals", "wiki"])
        page.run("window.asked = []; document.querySelector('#why-collection').value = 'wiki'")
        page.click("dialog button.primary")
        page.wait("window.asked.some(([path]) => path === '/v1/why_not')", "of the one chosen")
        asked = json.loads(page.run("window.asked.find(([path]) => path === '/v1/why_not')[1]"))
        self.assertEqual(asked["collections"], ["wiki", "animals"])

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
                ("owl in winter", "&c=animals,birds&fusion=weighted_sum&weight=0.4&depth=20"),
                ("-fox $(true) `true` \"crane\" \\ marsh", "&c=animals&fusion=dbsf&f.kind=%5B%22guide%22,%22note%22%5D&f.year=%5B2001%5D"),
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

    def test_offers_other_words_where_nothing_matches(self):
        page = self.open("/#q=STOOT&c=animals&strategy=sparse")
        page.wait("document.querySelector('.suggestion')?.innerText.toLowerCase() === 'stoat'", "a suggestion")
        page.click(".suggestion")
        page.wait(SHOWN)

    def test_keeps_the_search_in_the_address(self):
        page = self.search("owl", "&c=birds&strategy=sparse&top=5")
        self.assertEqual(page.run("document.querySelector('#query').value"), "owl")
        self.assertEqual(len(self.ids()), 5)
        page.go(case.world.url + "/#q=crane&c=birds&top=banana&strategy=nonsense&f.kind=%7B&weight=9")
        page.wait("document.querySelector('#query')?.value === 'crane' && " + SHOWN)

    def test_goes_back_to_searches_that_somebody_settled_on(self):
        page = self.open("/#c=animals")
        page.wait("document.activeElement.id === 'query'")
        begun = page.run("history.length")

        def shown(query, rest=""):
            page.wait(f"location.hash.includes('q={query}') && location.hash.includes({json.dumps(rest)}) && document.querySelector('#query').value === {json.dumps(query.replace('+', ' '))} && " + SHOWN, query + rest)
        page.type("otter quarry")
        page.press("Enter")
        shown("otter+quarry")
        self.assertEqual(page.run("history.length"), begun + 1, "one for all that was typed")
        page.type(" winter")
        shown("otter+quarry+winter")
        page.run("[...document.querySelectorAll('.segmented input')].find((e) => e.value === 'sparse').click()")
        shown("otter+quarry+winter", "strategy=sparse")
        self.assertEqual(page.run("history.length"), begun + 3)
        for query, rest in (("otter+quarry+winter", ""), ("otter+quarry", "")):
            page.run("history.back()")
            page.wait(f"!location.hash.includes('sparse') && location.hash.endsWith('q={query}&c=animals')")
            shown(query, rest)
        page.run("history.back()")
        page.wait("document.querySelector('.welcome') && document.querySelector('#query').value === ''", "as it began")
        page.run("history.go(3)")
        shown("otter+quarry+winter", "strategy=sparse")
        self.assertTrue(page.run("document.querySelector('.segmented input[value=sparse]').checked"))
        page.run("document.querySelector('nav a[href=\"/collections\"]').click()")
        page.wait("document.querySelector('.card')")
        page.run("history.back()")
        shown("otter+quarry+winter", "strategy=sparse")

    def test_counts_a_pause_as_settled(self):
        page = self.search("fox", "&c=animals")
        begun = page.run("history.length")
        page.run("document.querySelector('#query').focus()")
        page.type(" marsh")
        page.wait("location.hash.includes('q=fox+marsh') && " + SHOWN)
        time.sleep(1.8)
        page.type(" winter")
        page.wait("location.hash.includes('q=fox+marsh+winter') && " + SHOWN)
        self.assertEqual(page.run("history.length"), begun + 2)
        page.run("history.back()")
        page.wait("document.querySelector('#query').value === 'fox marsh' && " + SHOWN)

    def test_shows_documents_named_like_steps_of_a_path(self):
        for name in (".", ".."):
            chunks = [{"chunk_id": name if i == 0 else f"{name}{i}", "document_id": name, "chunk_index": i, "content": f"pathfinder part {i}"} for i in range(2)]
            case.world.call("POST", "/v1/collections/birds/chunks", {"chunks": chunks})
            page = self.search("part 0 pathfinder", "&c=birds&strategy=sparse&top=1")
            self.assertEqual(self.ids(), [name])
            page.run("[...document.querySelectorAll('.hit:first-child .actions button')][0].click()")
            page.wait("document.querySelectorAll('.hit:first-child .around p').length === 1", "its neighbour")
            page.run("[...document.querySelectorAll('.hit:first-child .actions button')][1].click()")
            page.wait("document.querySelectorAll('dialog .chunk').length === 2", "the document")
            case.world.call("POST", "/v1/collections/birds/delete", {"document_ids": [name]})

    def test_keeps_fields_of_any_name_in_the_address(self):
        chunk = {"chunk_id": "revs", "content": "gearbox", "metadata": {"revs": "high", "constructor": "x"}}
        case.world.call("POST", "/v1/collections/birds/chunks", {"chunks": [chunk]})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/birds/chunks/revs"))
        page = self.search("gearbox", "&c=birds&strategy=sparse&f.revs=%5B%22high%22%5D&vs&b.c=birds&b.f.revs=%5B%22high%22%5D")
        page.run("document.querySelector('#query').focus()")
        page.type(" box")
        page.wait("location.hash.includes('q=gearbox+box')")
        again = page.run("location.href")
        page = self.open(again.removeprefix(case.world.url))
        page.wait(SHOWN + " && document.querySelectorAll('.column').length === 2")
        page.wait("[...document.querySelectorAll('.filters summary')].find((e) => e.innerText.includes('revs'))?.innerText.includes('1')", "one value of the field is chosen")

    def test_shows_every_setting_of_the_address(self):
        page = self.search("fox winter", "&c=animals&fusion=rrf&k=10&depth=37&threshold=0.001")
        self.assertEqual(page.run("document.querySelector('[data-control=k]').value"), "10")
        self.assertEqual(page.run("document.querySelector('[data-control=threshold]').value"), "0.001")
        self.assertIn("37 candidates", page.run("document.querySelector('[data-control=depth]').getAttribute('aria-valuetext')"))
        page.run("const t = document.querySelector('[data-control=threshold]'); t.value = ''; t.dispatchEvent(new Event('change'))")
        page.wait("!location.hash.includes('threshold')")

    def test_understands_the_query_language(self):
        page = self.search("%2Bcrane+-marsh", "&c=birds&strategy=sparse")
        page.run("document.querySelector('[data-control=syntax]').click()")
        page.wait("location.hash.includes('syntax=true')")
        page.wait(SHOWN + " && document.querySelector('.note.quiet')?.innerText.includes('Understood as')", "how it was read")
        self.assertFalse([one for one in self.ids() if "marsh" in one or "crane" not in one])

    def test_shows_weights_as_they_were(self):
        page = self.search("fox winter", "&c=animals&fusion=auto")
        page.wait("document.querySelector('[data-control=weight]').value !== '0.7'", "the weight that auto chose")

    def test_begins_with_examples(self):
        page = self.open("/#c=animals")
        page.click(".welcome .suggestion")
        page.wait(SHOWN)

    def test_offers_collections_that_are_there(self):
        page = self.open("/#q=owl&c=nowhere")
        page.wait("document.querySelectorAll('.instead button').length === 2", "others")
        page.click(".instead button")
        page.wait(SHOWN)


class Compare(PageTest):
    def test_draws_lines_between_two_configurations(self):
        page = self.search("fox sleeps under roots in the marsh", "&c=animals&vs&b.c=animals&b.strategy=sparse")
        page.wait("document.querySelectorAll('.lines path').length > 2", "lines between the same hits")
        self.assertTrue(page.run("document.querySelectorAll('.move.up, .move.down, .move.alone').length > 0"))
        self.assertEqual(page.texts(".status .what"), ["animals · hybrid", "animals · sparse"], "which is which")
        page.run("[...document.querySelectorAll('.switch button')][1].click()")
        page.run("[...document.querySelectorAll('.segmented input')].find((e) => e.value === 'dense').click()")
        page.wait("location.hash.includes('b.strategy=dense')")
        page.wait("document.querySelectorAll('.column').length === 2 && " + SHOWN)
        page.click(".column:first-child .more")
        page.wait("document.querySelectorAll('.column:first-child .hit').length === 20", "the next page of one of them")
        page.wait("document.querySelectorAll('.column:first-child .hit:nth-child(n + 11) .move').length === 10")
        self.assertTrue(page.run("[...document.querySelectorAll('.column:last-child .hit')].every((e) => e.querySelector('.move').title)"))
        page.run("document.querySelector('.toolbar button').click()")
        page.wait("document.querySelectorAll('.column').length === 1 && !location.hash.includes('vs')")

    def test_shows_collections_side_by_side_and_together(self):
        page = self.search("owl winter", "&c=animals&vs&b.c=birds")
        page.wait("document.querySelectorAll('.lines path').length > 2", "the same chunks of both")
        page.wait("document.querySelectorAll('.column').length === 2 && [...document.querySelectorAll('.column')].every((e) => e.querySelectorAll('.hit').length > 0)")
        page = self.search("owl winter", "&c=animals,birds")
        self.assertEqual(page.run("document.querySelectorAll('.leg').length"), 4)
        page.click(".hit:first-child .receipt-button")
        self.assertGreater(page.run("document.querySelectorAll('.hit:first-child .arithmetic .within').length"), 2, "a receipt within the receipt")
        self.assertIn("ranks counted from 0", page.text(".hit:first-child .arithmetic .total:not(.within)"))
