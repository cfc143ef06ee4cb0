"""page_test.py BRAID [TEST …]: the web page in a real browser; exit 77 where there is none."""
import glob
import json
import os
import shlex
import subprocess
import sys
import time
import unittest
import urllib.parse

import browser
from world import Site, World

BRAID = ""
chromium = None
world = None
AXE = os.environ.get("BRAID_AXE", "")
PACKAGES = os.environ.get("BRAID_PACKAGES", "")
PYTHON = os.environ.get("BRAID_PYTHON", "") if glob.glob(os.path.join(PACKAGES or "nowhere", "braid", "_braid*.so")) else ""

SHOWN = "document.querySelectorAll('.hit').length > 0 && !document.querySelector('.column[aria-busy]')"


def setUpModule():
    global chromium, world
    world = World(BRAID)
    world.fill()
    chromium = browser.Browser(browser.find(), "--host-resolver-rules=MAP rebound.test 127.0.0.1")


def tearDownModule():
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
        self.assertLess(took, 100, "milliseconds from the answer to the hits")

    def test_cancels_what_is_stale(self):
        page = self.search("fox", "&c=animals")
        world.delay = 1.5  # of the embedding endpoint
        self.addCleanup(setattr, world, "delay", 0)
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
        done = subprocess.run([BRAID, "--data", world.data, "--json", *words[1:]], capture_output=True, text=True, check=True)
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
        page = self.open("/#q=stoot&c=animals&strategy=sparse")
        page.wait("document.querySelector('.suggestion')?.innerText.toLowerCase() === 'stoat'", "a suggestion")
        page.click(".suggestion")
        page.wait(SHOWN)

    def test_keeps_the_search_in_the_address(self):
        page = self.search("owl", "&c=birds&strategy=sparse&top=5")
        self.assertEqual(page.run("document.querySelector('#query').value"), "owl")
        self.assertEqual(len(self.ids()), 5)
        page.go(world.url + "/#q=crane&c=birds&top=banana&strategy=nonsense&f.kind=%7B&weight=9")
        page.wait("document.querySelector('#query')?.value === 'crane' && " + SHOWN)


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


class Trouble(PageTest):
    def test_shows_hostile_documents_as_text(self):
        page = self.search("badger named", "&c=animals&strategy=sparse")
        self.assertIn("<img src=x onerror=", page.text(".hit .passage"))
        self.assertTrue(page.text(".hit h2").startswith("<b>Badger</b> & <i>co</i>"))
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')][1].click()")
        page.wait("document.querySelector('dialog .chunk')")
        self.assertIsNone(page.run("window.hacked ?? null"))
        self.assertEqual(page.run("document.querySelectorAll('main img, main script, dialog img, dialog script, main u').length"), 0)

    def test_keeps_the_direction_of_writing(self):
        chunk = {"chunk_id": "rtl", "title": "المنارة", "content": "حافظ الحارس على ضوء المنارة zephyr", "metadata": {}}
        world.call("POST", "/v1/collections/birds/chunks", {"chunks": [chunk]})
        self.addCleanup(lambda: world.call("DELETE", "/v1/collections/birds/chunks/rtl"))
        page = self.search("zephyr", "&c=birds&strategy=sparse")
        self.assertEqual(page.run("getComputedStyle(document.querySelector('.hit .passage')).direction"), "rtl")
        self.assertEqual(page.run("getComputedStyle(document.querySelector('.hit .origin')).direction"), "ltr")

    def test_shows_words_without_end(self):
        chunk = {"chunk_id": "long", "title": "W" * 300, "content": "quokka " + "x" * 5000, "metadata": {"f" * 60: "v" * 40}}
        world.call("POST", "/v1/collections/birds/chunks", {"chunks": [chunk]})
        self.addCleanup(lambda: world.call("DELETE", "/v1/collections/birds/chunks/long"))
        for width in (360, 1280):
            page = self.search("quokka", "&c=birds&strategy=sparse", width=width, height=740)
            self.assertIn("xxxx", page.text(".hit .passage"))
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
            if width > 1000:
                page.wait("document.querySelector('.filters details')")
                self.assertLess(page.run("document.querySelector('.side').scrollWidth"), 260, "the controls keep their width")

    def test_is_deaf_to_other_sites(self):
        """A page of another origin cannot read, write or be answered, and another name of this machine is refused."""
        before = world.call("GET", "/v1/collections/animals")["chunks"]
        chunk = json.dumps({"chunks": [{"chunk_id": "forged", "content": "forged"}]})
        with Site(f"""<form method=post enctype=text/plain target=frame action={world.url}/v1/collections/animals/chunks>
                <input name='{chunk[:-1]}, "x": "' value='"}}'></form><iframe name=frame></iframe>""") as site:
            page = chromium.page()
            self.addCleanup(page.close)
            page.go(site)
            page.wait("document.forms.length === 1")
            told = page.run(f"""Promise.all(['application/json', 'text/plain'].flatMap((type) => ['cors', 'no-cors'].map(async (mode) => {{
                try {{
                    const answer = await fetch('{world.url}/v1/collections/animals/chunks', {{method: 'POST', mode, headers: {{'Content-Type': type}}, body: {json.dumps(chunk)}}});
                    return answer.type === 'opaque' ? 'opaque' : String(answer.status);
                }} catch {{ return 'refused'; }}
            }})))""")
            self.assertLessEqual(set(told), {"opaque", "refused"}, "nothing can be read")
            page.run("document.forms[0].submit()")
            reading = page.run(f"fetch('{world.url}/v1/collections').then((r) => r.text(), () => 'refused')")
            self.assertEqual(reading, "refused")
            time.sleep(0.3)
        self.assertEqual(world.call("GET", "/v1/collections/animals")["chunks"], before, "nothing was written")
        port = world.url.rsplit(":", 1)[1]
        page = chromium.page()
        self.addCleanup(page.close)
        page.go(f"http://rebound.test:{port}/")
        page.wait("document.body && document.readyState === 'complete' && location.hostname === 'rebound.test'")
        self.assertNotIn("Search", page.run("document.body.innerText"), "the page is not served under a name that anybody can point here")
        self.assertEqual(page.run("fetch('/v1/collections').then((r) => r.status)"), 421)

    def test_says_what_is_wrong_with_a_search(self):
        page = self.open("/#q=x&c=nowhere")
        self.assertIn("nowhere", page.text(".state.error"))
        page = self.open("/#q=owl&c=animals&depth=10000&threshold=1e9")
        page.wait("document.querySelector('.state h2')?.innerText === 'Nothing matches'")

    def test_waits_for_a_server_that_is_gone(self):
        page = self.search("fox", "&c=animals")
        world.stop()
        page.run("document.querySelector('#query').focus()")
        page.type(" marsh")
        self.assertIn("does not answer", page.text("#notice p"))
        self.assertGreater(len(self.ids()), 0, "what was found stays")
        world.start()
        page.wait("document.querySelector('#notice').innerText === '' && document.querySelector('.hit mark')", "it is back", timeout=30)
        page.wait(SHOWN)

    def test_asks_for_a_key_and_forgets_it(self):
        def key(name, right):
            made = subprocess.run([BRAID, "keys", "add", name, "--file", keys, "--grant", right, "--json"], capture_output=True, text=True, check=True)
            return json.loads(made.stdout)["key"]
        keys = os.path.join(world.folder, "keys.json")
        reader, writer = key("reader", "animals=read"), key("writer", "*=write")
        world.stop()
        world.start("--key-file", keys)
        try:
            page = self.open("/#q=fox")
            page.wait("document.querySelector('#api-key')", "the question for a key")
            page.type("wrong")
            page.press("Enter")
            page.wait("document.querySelector('dialog .error')?.innerText.includes('not known')", "a wrong key is refused")
            page.run("document.querySelector('#api-key').value = ''; document.querySelector('#api-key').focus()")
            page.type(reader)
            page.press("Enter")
            page.wait(SHOWN, "hits with the key")
            page.wait("document.querySelector('.tools').innerText.includes('read-only')")
            self.assertEqual(page.run("JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie, location.href.includes('braid_')])"), '[[],[],"",false]', "it is kept in memory alone")
            page.run("document.querySelector('nav a[href=\"/collections\"]').click()")
            page.wait("document.querySelector('.card')")
            self.assertEqual(page.texts(".card h2"), ["animals"])
            self.assertFalse(page.run("!!document.querySelector('.drop')"), "nothing to drop on without the right")
            page.go(world.url + "/collections?again")
            page.wait("document.querySelector('#api-key')", "a new page asks anew")
            page.type(writer)
            page.press("Enter")
            page.wait("document.querySelector('.drop')", "this one may write")
        finally:
            world.stop()
            world.start()


class Others(PageTest):
    def test_takes_files_that_are_dropped(self):
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.card .bars').length === 2")
        page.run("""(() => {
            document.querySelector('#into').value = 'dropped';
            const files = new DataTransfer();
            files.items.add(new File(['# Bats\\n\\nBats hear with their ears.'], 'bats.md'));
            files.items.add(new File(['{"_id": "b1", "text": "A bat sleeps by day."}\\nnot json\\n'], 'more.jsonl'));
            files.items.add(new File(['<h1>Dens</h1><p>Foxes dig.</p>'], 'dens.html'));
            files.items.add(new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], 'picture.png'));
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
        })()""")
        page.wait("document.querySelectorAll('.progress .done, .progress .partly, .progress .failed').length === 4", "every file has its end")
        self.assertEqual(page.texts(".progress b"), ["bats.md", "more.jsonl", "dens.html", "picture.png"], "in their order")
        self.assertEqual(page.text(".progress .partly .origin"), "1 chunk; 1 line failed: line 2: expected a value, found 'not'")
        self.assertIn("not supported", page.text(".progress .failed"))
        page.wait("[...document.querySelectorAll('.card h2')].some((e) => e.innerText === 'dropped')")
        page = self.search("when do bats sleep", "&c=dropped")
        self.assertEqual(len(self.ids()), 3)
        world.call("DELETE", "/v1/collections/dropped")

    def test_plots_sizes_and_latencies(self):
        page = self.search("fox")
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.histogram').length > 4", "histograms")
        self.assertIn("p99", page.text(".histogram"))
        self.assertIn("with vectors", page.text(".card"))
        self.assertIn("on disk", page.text(".card .parts"))

    def test_tells_and_tries_what_the_server_can_do(self):
        page = self.open("/docs")
        page.wait("document.querySelectorAll('#tag-mcp .operation').length > 3", "routes and tools")
        self.assertIn("braid.retrieve", page.texts("#rpc-method option"))
        page.click("#op-listCollections summary")
        page.click("#op-listCollections .trial button.primary")
        self.assertIn('"animals"', page.text("#op-listCollections .answer pre"))
        page.click("#tag-rpc .trial button.primary")
        self.assertIn('"jsonrpc": "2.0"', page.text("#tag-rpc .answer pre"))
        page.run("const s = document.querySelector('#rpc-method'); s.value = 'braid.retrieve'; s.dispatchEvent(new Event('change'))")
        self.assertIn("dense_weight", page.text("#tag-rpc .reference"), "the parameters of the method's route")
        page.click("#tag-rpc .trial button.primary")
        self.assertIn('"chunks"', page.text("#tag-rpc .answer pre"))
        page.click("#op-listCollections .inner summary")
        self.assertIn("namespaces", page.text("#op-listCollections .inner .reference"), "what a collection has")
        page.run("[...document.querySelectorAll('#tag-mcp .operation')].find((e) => e.innerText.includes('list_collections')).id = 'tool'")
        page.click("#tool summary")
        page.click("#tool .trial button.primary")
        self.assertIn("animals", page.text("#tool .answer pre"))

    def test_measures_on_judged_queries(self):
        queries = os.path.join(world.folder, "queries.jsonl")
        qrels = os.path.join(world.folder, "qrels.tsv")
        with open(queries, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"_id": name, "text": f"{name} of the marsh"}) + "\n" for name in ("fox", "owl", "hare"))
        with open(qrels, "w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n" + "".join(f"{name}\t{name}-marsh\t1\n" for name in ("fox", "owl", "hare")))
        page = self.open("/evaluate")
        page.wait("document.querySelector('#eval-queries')")
        page.click("form.drop button.primary")
        self.assertIn("Choose a file", page.text(".report"))
        page.files("#eval-queries", [queries])
        page.files("#eval-qrels", [qrels])
        page.click("form.drop button.primary")
        page.wait("document.querySelectorAll('.measures tbody tr').length === 3 && !document.querySelector('form.drop button').disabled", "three ways measured")
        self.assertIn("1.000", page.text(".measures"))


class Everybody(PageTest):
    def test_needs_no_mouse(self):
        page = self.open()
        page.wait("document.activeElement.id === 'query'")
        page.type("otter quarry")
        page.wait(SHOWN)
        page.press("ArrowDown")
        page.wait("document.activeElement.matches('.hit:first-child')", "on the first hit")
        page.press("ArrowDown")
        page.press("Enter")
        page.wait("document.querySelector('.hit:nth-child(2) .arithmetic')", "its receipt")
        page.press("d")
        page.wait("document.querySelector('dialog.drawer .chunk')", "its document")
        page.press("Escape")
        page.wait("!document.querySelector('dialog') && document.activeElement.matches('.hit:nth-child(2)')", "back where it was")
        page.press("n")
        page.wait("document.querySelector('.hit:nth-child(2) .around p')", "its neighbours")
        page.press("/")
        page.wait("document.activeElement.id === 'query'")
        page.press("Tab")
        page.wait("document.activeElement.id !== 'query'")

    def test_fits_a_phone(self):
        page = self.search("fox", "&c=animals", width=360, height=740, phone=True)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360, "nothing to scroll sideways")
        for address in ("/collections", "/docs", "/evaluate"):
            page.go(world.url + address)
            page.wait("document.querySelector('main h1')")
            time.sleep(0.2)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360, address)

    def test_has_no_accessibility_violations(self):
        if not os.path.exists(AXE):
            self.skipTest("axe-core is not in build/axe; tools/setup browser fetches it")
        with open(AXE, encoding="utf-8") as file:
            axe = file.read()
        for dark in (False, True):
            for address, ready in (("/#q=fox+winter&c=animals", SHOWN), ("/", "document.querySelector('.welcome')"),
                                   ("/#q=fox&c=animals&vs&b.c=birds", "document.querySelectorAll('.column .hit').length > 5"),
                                   ("/#q=stoot&c=animals&strategy=sparse", "document.querySelector('.suggestion')"),
                                   ("/collections", "document.querySelectorAll('.histogram').length > 3"),
                                   ("/docs", "document.querySelectorAll('#tag-mcp .operation').length > 3"), ("/evaluate", "document.querySelector('#eval-queries')")):
                page = chromium.page(dark=dark)
                page.call("Page.setBypassCSP", {"enabled": True})  # axe is not the page's own
                page.go(world.url + address)
                page.wait(ready)
                if ready == SHOWN:
                    page.click(".hit:first-child .receipt-button")
                if address == "/docs":
                    page.click("#op-retrieve summary")
                time.sleep(0.2)
                page.run(axe + ";0")
                found = page.run("axe.run().then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')}`))")
                page.close()
                with self.subTest(address=address, dark=dark):
                    self.assertEqual(found, [])


if __name__ == "__main__":
    BRAID = os.path.abspath(sys.argv[1])
    if browser.find() is None:
        print("SKIPPED: no Chromium; tools/setup packages installs it, or BRAID_CHROMIUM names one")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
