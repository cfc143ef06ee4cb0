"""The reference: what it offers to try succeeds, asks before it changes data, and is not offered to those who may not."""
import json
import urllib.error
import urllib.request

import case
from case import PageTest

READY = "document.querySelectorAll('#tag-mcp .operation').length > 3"
# What these need is not there unless somebody made it: an experiment's answer, a collection that is being filled.
NEEDS_MORE = ("click", "braid.click", "braid.finish_collection")


class Docs(PageTest):
    def outcome(self, place, button="primary"):
        """Presses the button of a trial, and gives the line above the answer and the answer."""
        page = self.page
        page.run(f"document.querySelector('{place} .answer')?.replaceChildren()")
        page.run(f"document.querySelector('{place} .trial button.{button}').click()")
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
                page.wait(f"document.querySelector('{place} .trial button.danger')", "a question")
                page.run("new Promise((done) => setTimeout(done, 550))")
                line, answer = self.outcome(place, "danger")
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
                self.assertNotIn(page.text("#tag-rpc .trial button.danger"), ("", "Try it"))
        self.choose("cstp.indexDecisions")
        self.assertIn("Orders live in Postgres", page.run("document.querySelector('#tag-rpc .trial textarea').value"), "an example where there is one")
        self.choose("braid.collections")
        body = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "braid.drop_collection", "params": {"collection": "animals"}}])
        page.run(f"document.querySelector('#tag-rpc .trial textarea').value = {json.dumps(body)}; document.querySelector('#tag-rpc .trial button.primary').click()")
        self.assertEqual(page.text("#tag-rpc .trial button.danger"), "Drop collection “animals” and everything in it", "whatever is written into the body")
        page.run("document.querySelector('#tag-rpc .trial textarea').dispatchEvent(new Event('input', {bubbles: true}))")
        self.assertFalse(page.run("!!document.querySelector('#tag-rpc .trial button.danger')"), "what was changed is asked about anew")
        self.assertEqual(json.dumps(case.world.call("GET", "/v1/collections")), before)
        self.assertFalse([one for one in page.requests if one.endswith("/rpc")], "nothing was sent")

    def allowed(self, method, path, body, key):
        """Whether the server lets this key do it, whatever else is wrong."""
        request = urllib.request.Request(case.world.url + path, body.encode() if body is not None else None, {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return "permission_denied" not in answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.status != 403

    def test_offers_what_the_key_allows(self):
        """Every operation and method is offered to those whom the server lets do it, and to nobody else."""
        for grant in ("spare=read", "spare=write", "spare=admin", "*=admin"):
            with self.subTest(grant=grant):
                case.world.call("POST", "/v1/collections/spare/chunks", {"chunks": [{"chunk_id": "trial", "document_id": "trial", "content": "trial"}]})
                key = self.with_key("/docs", [grant], "--allow-writes")
                try:
                    self.check_offers(key)
                finally:
                    self.without_keys()
        if "spare" in json.dumps(case.world.call("GET", "/v1/collections")):
            case.world.call("DELETE", "/v1/collections/spare")

    # What is asked of the server to see whether it may be; nothing where the address says it all.
    BODIES = {"addChunks": {"chunks": [{"chunk_id": "a", "content": "a"}]}, "updateChunks": {"updates": [{"chunk_id": "a", "metadata": {}}]}, "deleteChunks": {"chunk_ids": ["a"]},
              "putChunk": {"content": "a"}, "updateChunk": {"metadata": {}}, "putDocument": {"text": "a"}, "postDocuments": {"collection": "spare", "document_id": "a", "text": "a"},
              "createCollection": {"name": "spare"}, "reembed": {"embedder": "nonsense"}}
    PARAMS = {"braid.set_ranker": {"collection": "spare", "ranker": None}}

    def check_offers(self, key):
        page = self.page
        page.wait(READY)
        page.run("document.querySelectorAll('.operation').forEach((e) => (e.open = true))")
        document = case.world.call("GET", "/v1/openapi.json", key=key)
        page.wait("[...document.querySelectorAll('.operation[id]')].every((e) => e.querySelector('.trial, .none'))")
        offers = page.run("Object.fromEntries([...document.querySelectorAll('.operation[id]')].map((e) => [e.id.slice(3), !!e.querySelector('.trial')]))")
        self.assertGreater(len(offers), 30)
        for path, methods in document["paths"].items():
            for method, one in methods.items():
                name = one["operationId"]
                if name in offers and one.get("x-needs") not in (None, "read"):
                    address = path.replace("{collection}", "spare").replace("{chunk_id}", "a").replace("{document_id}", "a")
                    body = json.dumps(self.BODIES[name]) if name in self.BODIES else None
                    self.assertEqual(offers[name], self.allowed(method.upper(), address, body, key), name)
        for one in document["x-json-rpc-methods"]:
            name = one["name"]
            self.choose(name)
            offered = page.run("!!document.querySelector('#tag-rpc .trial')")
            if "operation" in one:
                self.assertEqual(offered, offers[one["operation"]], name)
            elif not name.startswith("cstp."):  # these have a collection of their own
                params = self.PARAMS.get(name, {"collection": "spare"})
                self.assertEqual(offered, self.allowed("POST", "/rpc", json.dumps({"jsonrpc": "2.0", "id": 1, "method": name, "params": params}), key), name)
        tools = page.run("[...document.querySelectorAll('#tag-mcp .operation')].filter((e) => e.querySelector('.trial')?.innerText.includes('changes data')).length")
        self.assertEqual(tools > 0, offers["addChunks"], "tools that write")

    def test_says_what_values_there_are(self):
        """The values and bounds of a member, on a phone too without scrolling sideways."""
        for look in ({}, {"width": 360, "height": 740, "phone": True}):
            page = self.open("/docs#op-retrieve", **look)
            page.wait(READY)
            types = dict(page.run("[...document.querySelectorAll('#op-retrieve .reference tbody tr')].map((e) => [e.children[0].innerText, e.children[1].innerText])"))
            self.assertIn('"multi_hop"', types["strategy"])
            self.assertEqual(types["top_k"], "integer or null, 1 to 10,000")
            page.run("document.querySelectorAll('.operation').forEach((e) => (e.open = true))")
            wide = page.run("[...document.querySelectorAll('.docs .scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.getAttribute('aria-label'))")
            self.assertEqual(wide, [])

    def test_says_what_every_parameter_means(self):
        page = self.open("/docs")
        page.wait(READY)
        page.run("document.querySelectorAll('.operation').forEach((e) => (e.open = true))")
        silent = """[...document.querySelectorAll('.scroll[aria-label^=Parameters], .scroll[aria-label^=Body]')].flatMap((table) =>
            [...table.querySelectorAll('tbody tr')].filter((e) => (e.children[2]?.innerText ?? "").trim() === '').map((e) => `${table.ariaLabel}: ${e.children[0].innerText}`))"""
        self.assertEqual(page.run(silent), [])
        for method in page.run("[...document.querySelectorAll('#rpc-method option')].map((e) => e.value)"):
            self.choose(method)
            self.assertEqual(page.run(silent), [], method)

    def test_knows_which_ids_no_address_can_hold(self):
        page = self.open("/docs#op-getDocument")
        page.wait("document.querySelector('#op-getDocument .trial')")
        page.run("document.querySelector('#op-getDocument .trial input[id$=document-id], #op-getDocument .trial input[id$=document_id]').value = '..'")
        line, answer = self.outcome("#op-getDocument")
        self.assertIn("not sent", line)
        self.assertIn("JSON-RPC", answer)
