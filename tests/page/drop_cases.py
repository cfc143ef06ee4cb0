"""Files dropped where something goes wrong: no right, no server, nothing in them, too much in them."""
import json
import os
import subprocess

import case
from case import PageTest

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
        page.wait("document.querySelector('#notice').innerText === ''", "the server is back", timeout=30)
        for done in (1, 2):
            # The list moves while the collections above it are shown again: not with the mouse.
            page.run("document.querySelector('.progress .failed button').click()")
            page.wait(f"document.querySelectorAll('.progress .done').length === {done}", f"{done} in")
        page.wait("document.querySelectorAll('.progress .done').length === 2", "both are in")
        self.assertEqual(case.world.call("GET", "/v1/collections/retried")["chunks"], 2)
        self.assertFalse(page.run("[...document.querySelectorAll('.progress button')].some((e) => !e.hidden)"), "nothing is left to try")

    def test_says_what_is_wrong_with_a_file(self):
        page = self.opened()
        page.run("document.querySelector('#into').value = 'wrong'")
        self.drop(("empty.txt", "[]"), ("empty.jsonl", "[]"), ("blank.jsonl", "['\\n\\n \\n']"), ("huge.txt", "['x'.repeat(70e6)]"))
        page.wait(ENDED + " === 4", timeout=60)
        told = page.texts(".progress .failed .origin")
        self.assertEqual(told[:3], ["The file is empty."] * 2 + ["The file contains no chunks."])
        self.assertEqual(told[3], "The file is 70 MB; the server accepts at most 67 MB. Split it into smaller files.")
        self.assertEqual(page.run("document.querySelector('#notice').innerText"), "", "the server is there")
        self.assertNotIn("wrong", json.dumps(case.world.call("GET", "/v1/collections")))
