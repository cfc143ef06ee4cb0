"""What goes wrong: hostile documents and sites, a server that is gone, keys."""
import json
import os
import signal
import subprocess
import time

import case
from case import PageTest, SHOWN
from world import Site


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
        chunks = [{"chunk_id": f"rtl{i}", "document_id": "rtl", "chunk_index": i, "title": "المنارة", "section_title": "Storm", "content": text, "metadata": {}}
                  for i, text in enumerate(("حافظ الحارس على ضوء المنارة zephyr", "كان الحارس رجلا خجولا"))]
        case.world.call("POST", "/v1/collections/birds/chunks", {"chunks": chunks})
        self.addCleanup(lambda: case.world.call("POST", "/v1/collections/birds/delete", {"document_ids": ["rtl"]}))
        page = self.search("zephyr المنارة", "&c=birds&strategy=sparse&top=1")
        page.click(".hit .actions button")
        page.wait("document.querySelector('.hit .around p')")
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')][1].click()")
        page.wait("document.querySelector('dialog .chunk.own')")
        for part, direction in (("#query", "ltr"), (".hit h2", "rtl"), (".hit .passage", "rtl"), (".hit .around p", "rtl"), (".hit .origin", "ltr"), ("dialog .chunk.own", "rtl"), ("dialog h2", "rtl")):
            self.assertEqual(page.run(f"getComputedStyle(document.querySelector('{part}')).direction"), direction, part)
        page.press("Escape")
        page.run("document.querySelector('#query').value = 'المنارة'")
        self.assertEqual(page.run("getComputedStyle(document.querySelector('#query')).direction"), "rtl", "as its first letter")

    def test_shows_words_without_end(self):
        chunk = {"chunk_id": "long", "title": "W" * 300, "content": "quokka " + "x" * 5000, "metadata": {"f" * 60: "v" * 4000}}
        case.world.call("POST", "/v1/collections/birds/chunks", {"chunks": [chunk]})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/birds/chunks/long"))
        for width in (360, 1280):
            page = self.search("quokka", "&c=birds&strategy=sparse", width=width, height=740)
            self.assertIn("xxxx", page.text(".hit .passage"))
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
            if width > 1000:
                page.wait("document.querySelector('.filters label')")
                self.assertLess(page.run("Math.max(...[...document.querySelectorAll('.filters label')].map((e) => e.clientHeight))"), 200, "long values are cut")
                self.assertLess(page.run("document.querySelector('.side').scrollWidth"), 260, "the controls keep their width")

    def test_marks_some_of_many_matches(self):
        """A chunk with more matches than a call takes arguments."""
        world = case.world
        world.call("POST", "/v1/collections/many/chunks", {"chunks": [{"chunk_id": "long", "document_id": "long", "content": "ferret word " * 80_000}]})
        self.addCleanup(lambda: world.call("DELETE", "/v1/collections/many"))
        page = self.search("ferret", "&c=many&strategy=sparse")
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')].at(-1).click()")
        page.wait("document.querySelector('dialog .chunk.own')")
        self.assertEqual(page.run("document.querySelectorAll('dialog mark').length"), 500)
        self.assertEqual(page.text("dialog .note"), "500 matches around the passage are marked; there are 79,500 more.")
        self.assertEqual(page.run("document.querySelector('dialog .chunk').textContent.length"), 960_000, "all of it is there")

    def test_is_deaf_to_other_sites(self):
        """A page of another origin cannot read, write or be answered, and another name of this machine is refused."""
        before = case.world.call("GET", "/v1/collections/animals")["chunks"]
        chunk = json.dumps({"chunks": [{"chunk_id": "forged", "content": "forged"}]})
        with Site(f"""<form method=post enctype=text/plain target=frame action={case.world.url}/v1/collections/animals/chunks>
                <input name='{chunk[:-1]}, "x": "' value='"}}'></form><iframe name=frame></iframe>""") as site:
            page = case.chromium.page()
            self.addCleanup(page.close)
            page.go(site)
            page.wait("document.forms.length === 1")
            told = page.run(f"""Promise.all(['application/json', 'text/plain'].flatMap((type) => ['cors', 'no-cors'].map(async (mode) => {{
                try {{
                    const answer = await fetch('{case.world.url}/v1/collections/animals/chunks', {{method: 'POST', mode, headers: {{'Content-Type': type}}, body: {json.dumps(chunk)}}});
                    return answer.type === 'opaque' ? 'opaque' : String(answer.status);
                }} catch {{ return 'refused'; }}
            }})))""")
            self.assertLessEqual(set(told), {"opaque", "refused"}, "nothing can be read")
            page.run("new Promise((done) => { document.querySelector('iframe').onload = () => done(0); document.forms[0].submit(); })")
            reading = page.run(f"fetch('{case.world.url}/v1/collections').then((r) => r.text(), () => 'refused')")
            self.assertEqual(reading, "refused")
        self.assertEqual(case.world.call("GET", "/v1/collections/animals")["chunks"], before, "nothing was written")
        port = case.world.url.rsplit(":", 1)[1]
        page = case.chromium.page()
        self.addCleanup(page.close)
        page.go(f"http://rebound.test:{port}/")
        page.wait("document.body && document.readyState === 'complete' && location.hostname === 'rebound.test'")
        self.assertNotIn("Search", page.run("document.body.innerText"), "the page is not served under a name that anybody can point here")
        self.assertEqual(page.run("fetch('/v1/collections').then((r) => r.status)"), 421)

    def test_says_that_nothing_is_there(self):
        page = self.open("/nowhere/at/all")
        self.assertEqual(page.text("main h1"), "Page not found")
        self.assertIn("/nowhere/at/all", page.text("main p"))
        page.click("main a[href='/docs']")
        page.wait("document.querySelectorAll('.docs .operation').length > 10", "on to the reference")
        page = self.open("/docs/")
        page.wait("location.pathname === '/docs' && document.querySelectorAll('.docs .operation').length > 10", "without the last slash")

    def test_says_what_is_wrong_with_a_search(self):
        page = self.open("/#q=x&c=nowhere")
        self.assertIn("nowhere", page.text(".state.error"))
        page = self.open("/#q=owl&c=animals&depth=10000&threshold=1e9")
        page.wait("document.querySelector('.state h2')?.innerText === 'Nothing matches'")

    def test_waits_for_a_server_that_is_gone(self):
        page = self.search("fox", "&c=animals")
        case.world.stop()
        page.run("document.querySelector('#query').focus()")
        page.type(" marsh")
        self.assertIn("not responding", page.text("#notice p"))
        self.assertGreater(len(self.ids()), 0, "what was found stays")
        case.world.start()
        page.wait("document.querySelector('#notice').innerText === '' && document.querySelector('.hit mark')", "it is back")
        page.wait(SHOWN)

    def test_keeps_what_was_measured_and_typed_when_the_server_goes(self):
        folder = case.world.folder
        for name, text in (("gone.tsv", "fox\tfox of the marsh\n"), ("gone-qrels.tsv", "fox\tfox-marsh\t1\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        page = self.open("/evaluate")
        page.wait("document.querySelector('#eval-queries')")
        page.files("#eval-queries", [os.path.join(folder, "gone.tsv")])
        page.files("#eval-qrels", [os.path.join(folder, "gone-qrels.tsv")])
        page.run("const real = window.fetch; let left = 1; window.fetch = (...what) => (left-- > 0 ? real(...what) : Promise.reject(new TypeError('gone')))")
        page.click("form.drop button.primary")
        page.wait("document.querySelector('.report .error')?.innerText.includes('not responding')")
        self.assertEqual(page.text(".report h2"), "animals, 1 query")
        self.assertEqual(page.run("document.querySelectorAll('.measures tbody tr').length"), 1, "what was measured stays")
        page = self.open("/docs#op-retrieve")
        page.wait("document.querySelectorAll('#tag-mcp .operation').length > 3 && document.querySelector('#op-retrieve textarea')")
        page.run("document.querySelector('#op-retrieve textarea').value = '{\"query\": \"typed\"}'")
        case.world.stop()
        page.run("document.querySelector('#op-retrieve .trial button.primary').click()")
        page.wait("document.querySelector('#notice p')")
        case.world.start()
        page.wait("document.querySelector('#notice').innerText === ''")
        self.assertIn("typed", page.run("document.querySelector('#op-retrieve textarea').value"))

    def test_says_that_a_server_does_not_answer(self):
        page = self.search("fox", "&c=animals")
        case.world.server.send_signal(signal.SIGSTOP)
        self.addCleanup(case.world.server.send_signal, signal.SIGCONT)
        page.run("""(() => {
            const box = document.querySelector('#query');
            box.focus();
            window.keys = [];
            box.addEventListener('input', () => keys.push(performance.now()));
            new MutationObserver(() => { if (document.querySelector('.column > .note')) window.told ??= performance.now(); }).observe(document.body, {childList: true, subtree: true});
        })()""")
        for letter in " marsh":
            page.type(letter)
            time.sleep(0.4)
        page.wait("window.told && document.querySelector('.column > .note')?.innerText.includes('still waiting')")
        self.assertGreater(page.run("told - keys[0]"), 2900)
        self.assertLess(page.run("told - keys.at(-1)"), 2900, "typing on does not put it off")
        page.wait("getComputedStyle(document.querySelector('.hits')).opacity === '0.6'", "hits of the earlier question are dimmed")
        self.assertGreater(len(self.ids()), 0)
        case.world.server.send_signal(signal.SIGCONT)
        page.wait(SHOWN)
        page.wait("!document.querySelector('.column > .note') && getComputedStyle(document.querySelector('.hits')).opacity === '1'")

    def test_shows_that_it_waits_without_motion_too(self):
        page = self.search("fox", "&c=animals")
        self.hold()
        page.run("document.querySelector('#query').focus()")
        page.type(" unanswered")
        page.wait("document.querySelector('.column[aria-busy]') && getComputedStyle(document.querySelector('.column'), '::before').opacity === '1'", "a line above the hits")
        case.world.answering.set()
        page.wait(SHOWN)

    def test_goes_on_to_other_pages_once_the_server_is_back(self):
        page = self.search("fox", "&c=animals")
        case.world.stop()
        page.run("document.querySelector('nav a[href=\"/docs\"]').click()")
        self.assertIn("when the server is back", page.text("main .state"))
        self.assertIn("not responding", page.text("#notice p"))
        case.world.start()
        page.wait("document.querySelectorAll('.docs .operation').length > 10", "the page that was asked for")
        page.wait("document.querySelector('#notice').innerText === ''")
        page.complaints.clear()  # the browser's own, of the file it could not fetch

    def test_asks_for_a_key_and_forgets_it(self):
        def key(name, right):
            made = subprocess.run([case.BRAID, "keys", "add", name, "--file", keys, "--grant", right, "--json"], capture_output=True, text=True, check=True)
            return json.loads(made.stdout)["key"]
        keys = os.path.join(case.world.folder, "keys.json")
        reader, writer = key("reader", "animals=read"), key("writer", "*=write")
        case.world.stop()
        case.world.start("--key-file", keys)
        try:
            page = self.open("/#q=fox")
            page.wait("document.querySelector('#api-key')", "the question for a key")
            page.type("wrong")
            page.press("Enter")
            page.wait("document.querySelector('dialog .error')?.innerText.includes('unknown')", "a wrong key is refused")
            page.run("document.querySelector('#api-key').value = ''; document.querySelector('#api-key').focus()")
            page.type(reader)
            page.press("Enter")
            page.wait(SHOWN, "hits with the key")
            page.wait("document.querySelector('.tools').innerText.includes('read-only')")
            self.assertEqual(page.run("JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie, location.href.includes('braid_')])"), '[[],[],"",false]', "it is kept in memory alone")
            page.click("[aria-label='Use another key']")
            page.wait("document.querySelector('#api-key')")
            page.type("mistyped")
            page.press("Enter")
            page.wait("document.querySelector('dialog .error')?.innerText.includes('unknown')")
            page.press("Escape")
            page.wait("!document.querySelector('dialog')")
            page.run("document.querySelector('nav a[href=\"/collections\"]').click()")
            page.wait("document.querySelector('.card')")
            self.assertEqual(page.texts(".card h2"), ["animals"])
            self.assertFalse(page.run("!!document.querySelector('.drop')"), "nothing to drop on without the right")
            page.go(case.world.url + "/collections?again")
            page.wait("document.querySelector('#api-key')", "a new page asks anew")
            page.type(writer)
            page.press("Enter")
            page.wait("document.querySelector('.drop')", "this one may write")
        finally:
            case.world.stop()
            case.world.start()
