"""page_test.py BRAID [TEST …]: the web page in a real browser; exit 77 where there is none."""
import json
import os
import sys
import unittest
import urllib.request

import browser
import case
from case import PageTest, SHOWN
from docs_cases import Docs  # noqa: F401 (found here by unittest)
from drop_cases import Drop  # noqa: F401
from elsewhere_cases import Elsewhere  # noqa: F401
from filter_cases import Filters  # noqa: F401
from receipt_cases import Receipts  # noqa: F401
from search_cases import Compare, Search  # noqa: F401
from trouble_cases import Trouble  # noqa: F401
from world import vector

AXE = os.environ.get("BRAID_AXE", "")


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
        page.run("document.querySelector('nav a[href=\"/docs\"]').click()")
        page.wait("document.querySelector('.docs')")
        page.run("document.querySelector('nav a[href=\"/collections\"]').click()")
        page.wait("document.querySelectorAll('.progress li').length === 4", "still to be seen after another page")
        page = self.search("when do bats sleep", "&c=dropped")
        self.assertEqual(len(self.ids()), 3)
        case.world.call("DELETE", "/v1/collections/dropped")

    def test_takes_folders_and_keeps_the_tab(self):
        """With the mouse, as people do: a folder on its place, then one beside it."""
        folder = os.path.join(case.world.folder, "notes")
        os.makedirs(os.path.join(folder, "deep"))
        for name, text in (("a.md", "# Newts\n\nNewts swim."), ("deep/b.txt", "Newts walk by night.")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.card .segments').length === 2 && document.querySelectorAll('.histogram').length > 0", "all of the page, which stays where it is")
        page.run("document.querySelector('#into').value = 'newts'")
        page.drop(".drop h2", [folder])
        page.wait("document.querySelectorAll('.progress .done').length === 2", "both files")
        self.assertEqual(sorted(page.texts(".progress b")), ["notes/a.md", "notes/deep/b.txt"])
        page.drop("h1", [os.path.join(folder, "a.md")])
        page.settle()
        self.assertEqual(page.run("location.pathname"), "/collections", "a file beside its place does not take the tab")
        case.world.call("DELETE", "/v1/collections/newts")

    def test_shows_some_of_many_namespaces(self):
        lines = "\n".join(json.dumps({"_id": "a", "text": "tenant", "namespace": f"tenant-{i:03}", "vector": vector("tenant")}) for i in range(60))
        request = urllib.request.Request(case.world.url + "/v1/collections/tenants/chunks", lines.encode(), {"Content-Type": "application/x-ndjson"})
        urllib.request.urlopen(request, timeout=60).close()
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/tenants"))
        page = self.open("/collections")
        page.wait("[...document.querySelectorAll('.card')].some((e) => e.innerText.includes('and 40 more') && e.innerText.includes('in the first 20 namespaces'))")

    def test_plots_sizes_and_latencies(self):
        page = self.search("fox")
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.histogram').length > 4", "histograms")
        self.assertIn("p99", page.text(".histogram"))
        self.assertIn("with vectors", page.text(".card"))
        self.assertIn("on disk", page.text(".card .parts"))
        index = case.world.call("GET", "/v1/collections/animals/stats")["index"]
        rows = page.texts(".card:first-child .segments .what")
        self.assertEqual(len(rows), len(index["segments"]) + 1, "a bar for each file, and one for what is in none yet")
        self.assertEqual(rows[-1], "in memory")

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

    def test_changes_nothing_by_one_click(self):
        case.world.call("POST", "/v1/collections", {"name": "doomed"})
        page = self.open("/docs#op-dropCollection")
        page.wait("document.querySelector('#op-dropCollection')?.open", "the address opens it")
        page.wait("document.querySelector('#op-dropCollection .trial input')")
        self.assertEqual(page.run("document.querySelector('#op-dropCollection .trial input').value"), "", "no collection is named beforehand")
        page.click("#op-dropCollection .trial button.primary")
        page.run("document.querySelector('#op-dropCollection .trial input').focus()")
        page.type("doomed")
        drop = "#op-dropCollection .trial button.danger"
        for _ in range(3):
            page.press("Enter")
        self.assertEqual(page.text(drop), "Drop collection “doomed” and everything in it")
        page.press("Enter")
        for _ in range(3):
            page.click("#op-dropCollection .trial button.primary")
        page.run("[...document.querySelectorAll('#op-dropCollection .question button')].find((e) => e.innerText === 'Cancel').click()")
        self.assertFalse(page.run(f"!!document.querySelector('{drop}')"))
        page.run(f"document.querySelector('#op-dropCollection .trial button.primary').click(); for (let i = 0; i < 4; ++i) document.querySelector('{drop}').click()")
        self.assertTrue(page.run("""(() => {
            const [one, other] = ["primary", "danger"].map((name) => document.querySelector(`#op-dropCollection .trial button.${name}`).getBoundingClientRect());
            return other.top > one.bottom && other.left > one.right;
        })()"""), "not where the first button is")
        page.run("new Promise((done) => setTimeout(done, 600))")
        page.settle()
        self.assertFalse(page.run("!!document.querySelector('#op-dropCollection .answer pre')"), "neither Enter nor a double click sends it")
        self.assertIn("doomed", json.dumps(case.world.call("GET", "/v1/collections")))
        page.click(drop)
        page.wait("document.querySelector('#op-dropCollection .answer pre')")
        self.assertNotIn("doomed", json.dumps(case.world.call("GET", "/v1/collections")))
        page.click("#op-retrieve summary")
        page.wait("location.hash === '#op-retrieve'", "an address to share")

    def test_measures_on_judged_queries(self):
        queries = os.path.join(case.world.folder, "queries.jsonl")
        qrels = os.path.join(case.world.folder, "qrels.tsv")
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
        self.assertIn("3 queries", page.text(".report h2"))
        for width in (360, 768):
            page.look(width, 740, phone=True)
            page.settle()
            self.assertEqual(page.run("[...document.querySelectorAll('.report .scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => [e.ariaLabel, innerWidth, e.scrollWidth, e.clientWidth].join())"), [], "no table is cut")
        page.look(1280, 860)
        page.run("document.querySelectorAll('.ways input').forEach((e) => (e.checked = false))")
        page.click("form.drop button.primary")
        page.wait("document.querySelector('.report').innerText.includes('Choose a way')")

    def test_measures_a_namespace_query_by_query(self):
        """Each query leads to the search by the best way beside the worst."""
        def document(name, text):
            return json.dumps({"_id": name, "document_id": name, "text": text, "namespace": "burrows"})
        texts = [document("hit", "badger"), *[document(f"other{i}", f"badger badgers badgers badgers number {i}") for i in range(12)], document("plain", "weasel")]
        request = urllib.request.Request(case.world.url + "/v1/collections/warren/chunks", "\n".join(texts).encode(), {"Content-Type": "application/x-ndjson"})
        urllib.request.urlopen(request, timeout=60).close()
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/warren"))
        for name, text in (("warren.tsv", "one\tnumber\ntwo\tweasel\n"), ("warren-qrels.tsv", "one\thit\t1\ntwo\tplain\t1\n")):
            with open(os.path.join(case.world.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        page = self.open("/evaluate")
        page.wait("document.querySelector('#eval-queries')")
        self.assertTrue(page.run("document.querySelector('#eval-namespace').closest('.field').hidden"), "animals has one alone")
        page.run("const s = document.querySelector('#eval-collection'); s.value = 'warren'; s.dispatchEvent(new Event('change'))")
        self.assertEqual(page.texts("#eval-namespace option"), ["burrows"])
        page.files("#eval-queries", [os.path.join(case.world.folder, "warren.tsv")])
        page.files("#eval-qrels", [os.path.join(case.world.folder, "warren-qrels.tsv")])
        page.click("form.drop button.primary")
        page.wait("document.querySelectorAll('.queries tbody tr').length === 2", "both queries")
        self.assertEqual(page.text(".report h2"), "warren/burrows, 2 queries")
        rows = dict(page.run("[...document.querySelectorAll('.queries tbody tr')].map((e) => [e.children[0].innerText, [...e.children].slice(1).map((td) => td.innerText.trim())])"))
        self.assertEqual(rows["weasel"], ["1.000"] * 3)
        page.run("[...document.querySelectorAll('.queries a')].find((e) => e.innerText === 'weasel').click()")
        page.wait("location.pathname === '/' && location.hash.includes('ns=burrows') && document.querySelector('#query').value === 'weasel' && " + SHOWN, "its search")

    def test_says_what_is_no_file_of_queries_or_of_its_judgements(self):
        def file(name, content):
            path = os.path.join(case.world.folder, name)
            with open(path, "wb") as out:
                out.write(content)
            return path
        page = self.open("/evaluate")
        page.wait("document.querySelector('#eval-queries')")
        page.files("#eval-qrels", [file("elsewhere.tsv", b"fox\tno-such-1\t1\nfox\tno-such-2\t1\n")])
        for content in (b"%PDF-1.7\n1\tobject\n", b"%PDF-1.7\n\xe2\xe3\xcf\xd3\tobject\n", b"PK\3\4\0\0\tsheet\n"):
            page.files("#eval-queries", [file("paper.pdf", content)])
            page.run("document.querySelector('.report').replaceChildren()")
            page.click("form.drop button.primary")
            page.wait("document.querySelector('.report .error')")
            self.assertEqual(page.text(".report"), "“paper.pdf” is no file of queries: it is not plain text in UTF-8.")
        page.files("#eval-queries", [file("right.tsv", b"fox\tfox of the marsh\n")])
        page.run("document.querySelector('.report').replaceChildren()")
        page.click("form.drop button.primary")
        page.wait("document.querySelector('.report .error')")
        self.assertEqual(page.text(".report .error"), "None of the judged documents (2) is in “animals”. Judgements name documents by their ids; the first here is “no-such-1”.")


class Everybody(PageTest):
    def test_needs_no_mouse(self):
        page = self.open()
        page.wait("document.activeElement.id === 'query'")
        page.type("otter quarry")
        page.wait("location.hash === '#q=otter+quarry' && " + SHOWN, "hits of the whole question")
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
        page.run("scrollTo(0, 1e6)")
        for _ in range(8):
            page.press("j")
        for _ in range(8):
            page.press("k")
        page.wait("document.activeElement.matches('.hit:nth-child(2)') && document.activeElement.getBoundingClientRect().top >= document.querySelector('.box').getBoundingClientRect().bottom", "the focus is not behind the box")
        page.press("/")
        page.wait("document.activeElement.id === 'query'")
        page.press("Tab")
        page.wait("document.activeElement.id !== 'query'")

    def test_has_every_control_on_the_keyboard(self):
        page = self.search("fox winter", "&c=animals")
        page.wait("document.querySelector('.filters input')", "filters")
        page.tab_to("[data-control=weight]")
        page.press("ArrowLeft")
        page.wait("location.hash.includes('weight=0.65')")
        page.tab_to(".filters input")
        page.press(" ")
        page.wait("location.hash.includes('f.kind')", "a filter")
        page.tab_to(".toolbar button:not(.asked)")
        page.press("Enter")
        page.wait("document.querySelectorAll('.column').length === 2", "two configurations")
        for place, inside in ((2, "#why-id"), (3, "dialog pre")):  # why not, copy as
            page.tab_to(f".toolbar .asked:nth-of-type({place})")
            page.press("Enter")
            page.wait(f"document.querySelector('{inside}')")
            page.press("Escape")
            page.wait("!document.querySelector('dialog')")
        page.tab_to(".column:last-child .hit .receipt-button")
        page.press("Enter")
        page.wait("document.querySelector('.column:last-child .arithmetic')", "a receipt of the second one")
        page.tab_to("nav a[href='/collections']")
        page.press("Enter")
        page.wait("document.querySelector('.card')")
        page.tab_to("#into")
        page.tab_to(".drop button")
        page.tab_to("nav a[href='/docs']")
        page.press("Enter")
        page.wait("document.querySelectorAll('.docs .operation').length > 10")
        page.tab_to("#op-listCollections summary")
        page.press("Enter")
        page.tab_to("#op-listCollections .trial button.primary")
        page.press("Enter")
        self.assertIn('"animals"', page.text("#op-listCollections .answer pre"))

    def test_fits_a_phone(self):
        page = self.search("fox", "&c=animals", width=360, height=740, phone=True)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360, "nothing to scroll sideways")
        for width in (320, 360, 820, 1920, 2560):
            page.look(width, 740, phone=width < 900)
            for address in ("/#q=fox&c=animals&vs&b.c=birds", "/#q=fox&c=nowhere", "/collections", "/docs", "/evaluate"):
                page.go(case.world.url + address)
                page.wait("document.querySelector('main h1') && document.readyState === 'complete'")
                page.settle()
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width, f"{address} at {width}")
                if "vs" in address and width > 320:
                    self.assertLess(page.run("document.querySelector('.toolbar').clientHeight"), 45, "one line of buttons")

    def test_has_one_line_of_head_on_a_phone(self):
        """What the key is and may do stands beside the name, however long."""
        self.with_key("/", ["animals=read"], width=360, height=740, phone=True)
        try:
            self.page.wait("document.querySelector('.tools .who')")
            brand, tools = (self.page.run(f"document.querySelector('{part}').getBoundingClientRect().toJSON()") for part in (".brand", ".tools"))
            self.assertLess(abs(brand["y"] + brand["height"] / 2 - tools["y"] - tools["height"] / 2), 4)
            self.assertLessEqual(tools["right"], 360)
            self.assertEqual(self.page.texts(".chip"), ["read-only", "somebody"])
        finally:
            self.without_keys()

    def test_has_no_accessibility_violations(self):
        if not os.path.exists(AXE):
            self.skipTest("axe-core is not in build/axe; tools/setup browser fetches it")
        with open(AXE, encoding="utf-8") as file:
            axe = file.read()
        hits = "/#q=fox+winter&c=animals"

        def press(text):
            return f"[...document.querySelectorAll('.hit button, .toolbar button, nav button')].find((e) => e.innerText.includes('{text}')).click()"
        measure = """(() => { for (const [id, text] of [['queries', 'fox\\tfox of the marsh'], ['qrels', 'fox\\tfox-marsh\\t1']]) {
                const files = new DataTransfer();
                files.items.add(new File([text], `${id}.tsv`));
                document.querySelector(`#eval-${id}`).files = files.files;
            } document.querySelector('form.drop button.primary').click(); })()"""
        drop = """(() => { document.querySelector('#into').value = 'axe';
            const files = new DataTransfer();
            for (let i = 0; i < 30; ++i) files.items.add(new File([i ? 'A newt.' : ''], `newt${i}.txt`));
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true})); })()"""
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/axe"))
        # An address, what it waits for, what is done then, and what that leads to.
        states = [(hits, SHOWN, "document.querySelectorAll('.receipt-button').forEach((e) => e.click())", "document.querySelector('.arithmetic')"),
                  (hits, SHOWN, press("Document"), "document.querySelector('dialog .chunk')"), (hits, SHOWN, press("Neighbours"), "document.querySelector('.around p')"),
                  (hits, SHOWN, press("Copy as"), "document.querySelector('dialog pre')"), (hits, SHOWN, press("Why not"), "document.querySelector('#why-id')"),
                  (hits, "document.querySelector('.filters label')", "document.querySelectorAll('.filters details').forEach((e) => (e.open = true))", "document.querySelector('.range')"),
                  (hits + ",birds&fusion=auto", SHOWN, "document.querySelector('.receipt-button').click(); document.querySelector('.side').open = true", "document.querySelector('.arithmetic')"),
                  ("/", "document.querySelector('.welcome')", "0", "true"), ("/nowhere", "document.querySelector('main h1')", "0", "true"),
                  ("/#q=fox&c=animals&vs&b.c=birds", "document.querySelectorAll('.column .hit').length > 5", "0", "true"),
                  ("/#q=STOOT&c=animals&strategy=sparse", "document.querySelector('.suggestion')", "0", "true"), ("/#q=stoatt&c=animals", "document.querySelector('.note button')", "0", "true"),
                  ("/#q=fox&c=animals&ns=nowhere", "document.querySelector('.instead')", "0", "true"), ("/#q=x&c=nowhere", "document.querySelector('.state.error')", "0", "true"),
                  ("/collections", "document.querySelectorAll('.histogram').length > 3", "0", "true"), ("/evaluate", "document.querySelector('#eval-queries')", "0", "true"),
                  ("/evaluate", "document.querySelector('#eval-queries')", measure, "document.querySelectorAll('.queries tbody td').length === 3"),
                  ("/collections", "document.querySelectorAll('.histogram').length > 3", drop, "document.querySelectorAll('.progress .failed, .progress .done').length === 30"),
                  ("/docs", "document.querySelectorAll('#tag-mcp .operation').length > 3", "document.querySelectorAll('.operation').forEach((e) => (e.open = true))", "document.querySelectorAll('.trial').length > 30")]
        for look in ({}, {"dark": True}, {"width": 360, "height": 740, "phone": True}):
            page = case.chromium.page(**look)
            page.call("Page.setBypassCSP", {"enabled": True})  # axe is not the page's own
            for address, ready, act, then in states:
                page.go("about:blank")
                page.go(case.world.url + address)
                page.wait(ready)
                page.run(act)
                page.wait(then)
                page.settle()
                page.run(axe + ";0")
                found = page.run("axe.run().then((r) => r.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(', ')}`))", timeout=10 * browser.PATIENCE)
                with self.subTest(address=address, act=act, **look):
                    self.assertEqual(found, [])
            page.close()


if __name__ == "__main__":
    if browser.find() is None:
        print("SKIPPED: no Chromium; tools/setup packages installs it, or BRAID_CHROMIUM names one")
        sys.exit(77)
    case.start(os.path.abspath(sys.argv[1]))
    try:
        program = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False)
    finally:
        case.stop()
    sys.exit(not program.result.wasSuccessful())
