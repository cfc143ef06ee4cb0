"""The reference: what it offers to try succeeds, asks before it changes data, and is not offered to those who may not."""
import json
import os
import subprocess

import case
from case import PageTest

READY = "document.querySelectorAll('#tag-mcp .operation').length > 3"
# What these need is not there unless somebody made it: an experiment's answer, a collection that is being filled.
NEEDS_MORE = ("click", "braid.click", "braid.finish_collection")


class Docs(PageTest):
    def outcome(self, place):
        """Presses the button of a trial, and gives the line above the answer and the answer."""
        page = self.page
        page.run(f"document.querySelector('{place} .answer')?.replaceChildren()")
        page.run(f"document.querySelector('{place} .trial button.primary').click()")
        page.wait(f"document.querySelector('{place} .answer pre')", place)
        return page.run(f"[document.querySelector('{place} .answer .origin').textContent, document.querySelector('{place} .answer pre').textContent]")

    def operations(self, writes):
        document = case.world.call("GET", "/v1/openapi.json")
        return [one["operationId"] for methods in document["paths"].values() for one in methods.values()
                if one["x-writes"] == writes and one["tags"][0] not in ("page", "messages")]

    def methods(self, writes):
        return [one["name"] for one in case.world.call("GET", "/v1/openapi.json")["x-json-rpc-methods"] if one["writes"] == writes]

    def choose(self, method):
        self.page.run(f"(() => {{ const s = document.querySelector('#rpc-method'); s.value = '{method}'; s.dispatchEvent(new Event('change')); }})()")

    def tools(self):
        self.page.run("document.querySelectorAll('#tag-mcp .operation').forEach((e) => { e.id = `tool-${e.querySelector('code').textContent}`; e.open = true; })")
        return self.page.run("[...document.querySelectorAll('#tag-mcp .operation')].map((e) => e.id)")

    def test_every_read_succeeds_as_it_is_offered(self):
        page = self.open("/docs")
        page.wait(READY)
        for name in self.operations(False):
            with self.subTest(operation=name):
                page.run(f"document.querySelector('#op-{name}').open = true")
                page.wait(f"document.querySelector('#op-{name} .trial')")
                line, answer = self.outcome(f"#op-{name}")
                self.assertIn("→ 200", line, answer)
                self.assertNotIn('"error": {', answer)
        for name in self.methods(False):
            with self.subTest(method=name):
                self.choose(name)
                line, answer = self.outcome("#tag-rpc")
                self.assertIn("result", json.loads(answer) if len(answer) < 20_000 else {"result": 0}, answer)
        for tool in self.tools():
            with self.subTest(tool=tool):
                line, answer = self.outcome(f"#{tool}")
                self.assertIn("→ 200", line, answer)
                self.assertNotIn('"isError": true', answer)

    def test_every_write_succeeds_where_somebody_names_a_place(self):
        case.world.call("POST", "/v1/collections/scratch/chunks", {"chunks": [{"chunk_id": "trial", "document_id": "trial", "content": "trial"}]})
        page = self.open("/docs")
        page.wait(READY)
        later = ("deleteChunks", "deleteChunk", "deleteDocument", "createCollection", "dropCollection")
        for name in [one for one in self.operations(True) if one not in NEEDS_MORE and one not in later] + list(later):
            with self.subTest(operation=name):
                place = f"#op-{name}"
                page.run(f"document.querySelector('{place}').open = true")
                page.wait(f"document.querySelector('{place} .trial')")
                page.run(f"""document.querySelectorAll('{place} .trial input[required]').forEach((e) => {{
                    e.value = e.id.endsWith('collection') ? 'scratch' : 'trial'; }});
                    document.querySelectorAll('{place} .trial textarea').forEach((e) => {{ e.value = e.value.replace('"collection": ""', '"collection": "scratch"'); }})""")
                page.run(f"document.querySelector('{place} .trial button.primary').click()")
                self.assertEqual(page.text(f"{place} .trial button.primary"), "Yes, change data")
                line, answer = self.outcome(place)
                self.assertRegex(line, "→ 20[01]", answer)
        case.world.call("DELETE", "/v1/collections/trial")

    def test_asks_before_every_method_that_writes(self):
        page = self.open("/docs")
        page.wait(READY)
        before = json.dumps(case.world.call("GET", "/v1/collections"))
        self.assertGreater(len(self.methods(True)), 10)
        for name in self.methods(True):
            with self.subTest(method=name):
                self.choose(name)
                page.run("document.querySelector('#tag-rpc .trial button.primary').click()")
                self.assertEqual(page.text("#tag-rpc .trial button.primary"), "Yes, change data")
        self.choose("cstp.indexDecisions")
        self.assertIn("Orders live in Postgres", page.run("document.querySelector('#tag-rpc .trial textarea').value"), "an example where there is one")
        self.choose("braid.collections")
        body = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "braid.drop_collection", "params": {"collection": "animals"}}])
        page.run(f"document.querySelector('#tag-rpc .trial textarea').value = {json.dumps(body)}; document.querySelector('#tag-rpc .trial button.primary').click()")
        self.assertEqual(page.text("#tag-rpc .trial button.primary"), "Yes, change data", "whatever is written into the body")
        page.run("document.querySelector('#tag-rpc .trial textarea').dispatchEvent(new Event('input', {bubbles: true}))")
        self.assertEqual(page.text("#tag-rpc .trial button.primary"), "Try it", "what was changed is asked about anew")
        self.assertEqual(json.dumps(case.world.call("GET", "/v1/collections")), before)
        self.assertFalse([one for one in page.requests if one.endswith("/rpc")], "nothing was sent")

    def test_offers_no_writes_to_readers(self):
        keys = os.path.join(case.world.folder, "docs-keys.json")
        made = subprocess.run([case.BRAID, "keys", "add", "reader", "--file", keys, "--grant", "animals=read", "--json"], capture_output=True, text=True, check=True)
        case.world.stop()
        case.world.start("--key-file", keys, "--allow-writes")
        try:
            page = self.open("/docs")
            page.wait("document.querySelector('#api-key')")
            page.type(json.loads(made.stdout)["key"])
            page.press("Enter")
            page.wait(READY)
            page.run("document.querySelectorAll('.operation').forEach((e) => (e.open = true))")
            page.wait("document.querySelectorAll('.trial').length > 20")
            key = json.loads(made.stdout)["key"]
            document = case.world.call("GET", "/v1/openapi.json", key=key)
            for methods in document["paths"].values():
                for one in methods.values():
                    if one["tags"][0] not in ("page", "messages"):
                        self.assertEqual(page.run(f"!!document.querySelector('#op-{one['operationId']} .trial')"), not one["x-writes"], one["operationId"])
            for one in document["x-json-rpc-methods"]:
                self.choose(one["name"])
                self.assertEqual(page.run("!!document.querySelector('#tag-rpc .trial')"), not one["writes"], one["name"])
            self.assertFalse([one for one in page.texts("#tag-mcp .origin") if "changes data" in one])
        finally:
            case.world.stop()
            case.world.start()

    def test_knows_which_ids_no_address_can_hold(self):
        page = self.open("/docs#op-getDocument")
        page.wait("document.querySelector('#op-getDocument .trial')")
        page.run("document.querySelector('#op-getDocument .trial input[id$=document-id], #op-getDocument .trial input[id$=document_id]').value = '..'")
        line, answer = self.outcome("#op-getDocument")
        self.assertIn("not sent", line)
        self.assertIn("JSON-RPC", answer)
