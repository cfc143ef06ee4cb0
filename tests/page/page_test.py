"""page_test.py BRAID [TEST …]: the web page in a real browser; exit 77 where there is none."""
import json
import os
import sys
import time
import unittest

import browser
import case
from case import PageTest, SHOWN
from search_cases import Compare, Search  # noqa: F401 (found here by unittest)
from trouble_cases import Trouble  # noqa: F401

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
        page = self.search("when do bats sleep", "&c=dropped")
        self.assertEqual(len(self.ids()), 3)
        case.world.call("DELETE", "/v1/collections/dropped")

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
        page.press("/")
        page.wait("document.activeElement.id === 'query'")
        page.press("Tab")
        page.wait("document.activeElement.id !== 'query'")

    def test_fits_a_phone(self):
        page = self.search("fox", "&c=animals", width=360, height=740, phone=True)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360, "nothing to scroll sideways")
        for address in ("/collections", "/docs", "/evaluate"):
            page.go(case.world.url + address)
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
                page = case.chromium.page(dark=dark)
                page.call("Page.setBypassCSP", {"enabled": True})  # axe is not the page's own
                page.go(case.world.url + address)
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
    if browser.find() is None:
        print("SKIPPED: no Chromium; tools/setup packages installs it, or BRAID_CHROMIUM names one")
        sys.exit(77)
    case.start(os.path.abspath(sys.argv[1]))
    try:
        program = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False)
    finally:
        case.stop()
    sys.exit(not program.result.wasSuccessful())
