"""Files dropped where something goes wrong: no right, no server, nothing in them, too much in them."""
import json
import os
import subprocess

import case
from case import PageTest, SHOWN

ENDED = "document.querySelectorAll('.progress .done, .progress .partly, .progress .failed').length"


class Drop(PageTest):
    def drop(self, *files):
        """Files as (name, expression of their parts)."""
        added = "".join(f"files.items.add(new File({parts}, {json.dumps(name)}));" for name, parts in files)
        self.page.run(f"""(() => {{ const files = new DataTransfer(); {added}
            document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {{dataTransfer: files, bubbles: true, cancelable: true}})); }})()""")

    def opened(self):
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.card .bars').length > 1")
        return page

    def test_offers_a_collection_that_may_be_written(self):
        keys = os.path.join(case.world.folder, "drop-keys.json")
        made = subprocess.run([case.BRAID, "keys", "add", "birder", "--file", keys, "--grant", "birds=write", "--grant", "animals=read", "--json"], capture_output=True, text=True, check=True)
        case.world.stop()
        case.world.start("--key-file", keys)
        try:
            page = self.open("/collections")
            page.wait("document.querySelector('#api-key')")
            page.type(json.loads(made.stdout)["key"])
            page.press("Enter")
            page.wait("document.querySelector('#into')")
            self.assertEqual(page.run("document.querySelector('#into').value"), "birds")
            self.assertEqual(page.run("[...document.querySelectorAll('#collection-names option')].map((e) => e.value)"), ["birds"])
            page.run("document.querySelector('#into').value = 'elsewhere'")
            self.drop(("a.txt", "['text']"))
            page.wait(ENDED + " === 1")
            self.assertIn("the right to write collection \"elsewhere\" is missing", page.text(".progress .failed").lower())
        finally:
            case.world.stop()
            case.world.start()

    def test_knows_patterns_of_names(self):
        """A key for "team-*" may make such collections: it is not read-only, whether there is one or not."""
        self.with_key("/collections", ["team-*=write", "animals=read"])
        try:
            page = self.page
            page.wait("document.querySelector('#into') && document.querySelector('.card')", "a place to drop files")
            self.assertNotIn("read-only", page.text(".tools"))
            self.assertEqual(page.texts(".card .chip"), ["read-only"], "animals is")
            self.assertEqual(page.run("[document.querySelector('#into').value, document.querySelector('#into').placeholder]"), ["", "team-…"])
            page.run("document.querySelector('#into').value = 'team-red'")
            self.drop(("a.txt", "['A red kite.']"))
            page.wait(ENDED + " === 1 && document.querySelector('.progress .done')")
            page.wait("document.querySelectorAll('.card').length === 2")
            self.assertEqual([one.split("\n") for one in page.texts(".card header")], [["animals", "read-only"], ["team-red"]])
        finally:
            self.without_keys()
            case.world.call("DELETE", "/v1/collections/team-red")

    def test_offers_a_collection_that_is_granted_but_not_there_yet(self):
        self.with_key("/collections", ["notes=write"])
        try:
            self.page.wait("document.querySelector('#into')")
            self.assertEqual(self.page.run("document.querySelector('#into').value"), "notes")
            self.assertIn("No collections yet", self.page.text(".cards"))
        finally:
            self.without_keys()

    def test_counts_many_files_and_lists_those_that_failed(self):
        page = self.opened()
        page.run("document.querySelector('#into').value = 'many-files'")
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/many-files"))
        self.drop(*[(f"newt{i:02}.txt", "['A newt swims.']") for i in range(30)], ("photo.png", "[new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0])]"))
        page.wait("document.querySelector('.drop > p:not([hidden]) span')?.innerText === '30 of 31 files added, 1 failed'", "a line that counts them")
        listed = "[...document.querySelectorAll('.progress li')].filter((e) => e.checkVisibility()).map((e) => e.querySelector('b').innerText)"
        self.assertEqual(page.run(listed), ["photo.png"], "what went in is counted, not listed")
        self.assertEqual(page.text("#spoken"), "30 of 31 files added, 1 failed")
        self.hold()
        self.drop(*[(f"toad{i:02}.txt", f"['A toad sits there, number {i}.']") for i in range(40)])
        page.wait("document.querySelector('.progress .running b')?.innerText === 'toad00.txt'", "the one on its way")
        page.click(".drop > p button")
        case.world.answering.set()
        page.wait("!document.querySelector('.progress .waiting, .progress .running')", "the rest is not sent")
        documents = case.world.call("GET", "/v1/collections/many-files")["documents"]
        self.assertEqual(documents, 31, "the newts, and the toad that was on its way")
        self.assertEqual(page.text(".drop > p span"), "31 of 32 files added, 1 failed")

    def test_takes_the_first_file_where_nothing_is(self):
        """The search itself has a place for files while there is no collection, and goes on with what is in."""
        case.world.stop()
        case.world.start(data=os.path.join(case.world.folder, "nothing"))
        try:
            page = self.open("/")
            page.wait("document.querySelector('.welcome .drop')")
            self.drop(("newts.md", "['# Newts\\n\\nNewts swim.']"))
            page.wait("document.querySelector('.welcome h2')?.innerText === '1 passage in 1 document'")
            page.click(".welcome .suggestion")
            page.wait(SHOWN)
        finally:
            self.without_keys()

    def test_refuses_lines_that_are_no_utf8(self):
        page = self.opened()
        page.run("document.querySelector('#into').value = 'latin'")
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/latin"))
        latin = "[new Uint8Array([...'{\"_id\": \"l1\", \"text\": \"caf\xe9\"}'].map((c) => c.charCodeAt(0)))]"
        self.drop(("latin.jsonl", latin), ("good.jsonl", """['{"_id": "l2", "text": "caf\u00e9"}']"""))
        page.wait(ENDED + " === 2")
        self.assertIn("It is not UTF-8.", page.text(".progress .failed"))
        self.assertEqual(case.world.call("GET", "/v1/collections/latin")["chunks"], 1)

    def test_tries_again_once_the_server_is_back(self):
        page = self.opened()
        page.run("document.querySelector('#into').value = 'retried'")
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/retried"))
        case.world.stop()
        self.drop(("one.txt", "['A newt swims.']"), ("two.jsonl", """['{"_id": "n1", "text": "A newt walks."}']"""))
        page.wait("document.querySelectorAll('.progress .failed').length === 2", "both failed")
        self.assertIn("not responding", page.text(".progress .failed"))
        case.world.start()
        page.wait("document.querySelector('#notice').innerText === ''", "the server is back")
        for done in (1, 2):
            # The list moves while the collections above it are shown again: not with the mouse.
            page.run("document.querySelector('.progress .failed button').click()")
            page.wait(f"document.querySelectorAll('.progress .done').length === {done}", f"{done} in")
        page.wait("document.querySelectorAll('.progress .done').length === 2", "both are in")
        self.assertEqual(case.world.call("GET", "/v1/collections/retried")["chunks"], 2)
        self.assertFalse(page.run("[...document.querySelectorAll('.progress button')].some((e) => !e.hidden)"), "nothing is left to try")

    def test_asks_before_the_tab_closes(self):
        page = self.opened()
        leave = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"  # false: the browser asks
        self.assertTrue(page.run(leave))
        page.run("document.querySelector('#into').value = 'kept'")
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/kept"))
        self.hold()
        self.drop(("one.txt", "['A newt swims.']"))
        page.wait("document.querySelector('.progress li')")
        self.assertFalse(page.run(leave))
        case.world.answering.set()
        page.wait(ENDED + " === 1")
        self.assertTrue(page.run(leave))

    def test_says_what_is_wrong_with_a_file(self):
        page = self.opened()
        page.run("document.querySelector('#into').value = 'wrong'")
        self.drop(("empty.txt", "[]"), ("empty.jsonl", "[]"), ("blank.jsonl", "['\\n\\n \\n']"), ("huge.txt", "['x'.repeat(70e6)]"))
        page.wait(ENDED + " === 4")
        # An empty file is no error, but it is said.
        self.assertEqual(page.texts(".progress .done .origin"), ["0 chunks; it holds no text", "0 chunks; it is empty"])
        told = page.texts(".progress .failed .origin")
        self.assertEqual(told[0], "The file contains no chunks.")
        self.assertEqual(told[1], "The file is 70 MB; the server accepts at most 67 MB. Split it into smaller files.")
        self.assertEqual(page.run("document.querySelector('#notice').innerText"), "", "the server is there")
        self.assertNotIn("wrong", json.dumps(case.world.call("GET", "/v1/collections")))
