"""Searching and comparing."""
import json
import random

import case
from case import PageTest, SHOWN


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
        self.hold()
        page.run("document.querySelector('#query').focus()")
        page.type(" unheard")
        page.wait("location.hash.includes('q=fox+unheard&') && document.querySelector('.column[aria-busy]')", "it waits for the endpoint")
        before = page.cancelled
        page.type(" of")
        page.wait("location.hash.includes('q=fox+unheard+of&')")
        page.wait_for(lambda: page.cancelled > before, "the older question is called back")
        case.world.answering.set()
        page.wait("!document.querySelector('.column[aria-busy]')")
        self.assertEqual(page.run("document.title"), "fox unheard of · braid")

    def test_marks_the_words_that_match(self):
        page = self.search("foxes sleeping")
        page.wait("document.querySelectorAll('mark').length > 0", "marks")
        self.assertLessEqual({one.lower() for one in page.texts("mark")}, {"fox", "sleeps", "foxes"})
        page.wait("document.querySelector('.hit h2 mark')?.innerText === 'Fox'", "in the title too")

    def test_chooses_the_passage_as_the_server_does(self):
        """Of long texts: as many different words of the query as in the passage that the server would choose."""
        random.seed(22)
        words = ["fox", "owl", "vole"]
        texts = [" ".join(random.choice(words) if random.random() < 0.03 else random.choice(["stone", "wall", "river", "x" * 30]) for _ in range(random.randrange(1, 300))) for _ in range(200)]
        page = self.open()
        page.wait("document.querySelector('.welcome')")
        size = 110
        told = case.world.call("POST", "/v1/collections/animals/highlight", {"query": " ".join(words), "texts": texts, "window": size})["texts"]
        windows = page.run(f"import('/page/hit.js').then(({{ passageOf }}) => {json.dumps([[text, one['matches']] for text, one in zip(texts, told)])}.map(([text, matches]) => passageOf(text, matches, {size})))")
        for text, one, (begin, end) in zip(texts, told, windows):
            def found(first, last):
                return {text[a:b] for a, b in one["matches"] if a >= first and b <= last}
            self.assertGreaterEqual(len(found(begin, end)), len(found(*one["window"])), text)
            self.assertLessEqual(end - begin, size)

    def test_marks_what_was_searched_for(self):
        """Words in place of mistyped ones, and those a pattern stands for; never those behind "-"."""
        page = self.search("stoatt+quarrry", "&c=animals")
        page.wait("[...document.querySelectorAll('.hit:first-child mark')].map((e) => e.innerText.toLowerCase()).filter((one) => ['stoat', 'quarry'].includes(one)).length > 1", "the corrected words")
        self.assertEqual(page.text(".note").replace("Stoat", "stoat"), "Also searched for: “stoat” for “stoatt”, “quarry” for “quarrry”. Only as typed")
        page.click(".note button")
        page.wait("location.hash.includes('typos=off') && !document.querySelector('.note') && " + SHOWN)
        self.assertFalse(page.run("document.querySelector('[data-control=typos]').checked"))
        self.assertEqual(page.texts("mark"), [])
        page.click("[data-control=typos]")
        page.wait("!location.hash.includes('typos') && document.querySelector('.note')")
        page = self.search("%2Botter+-dusk+win*", "&c=animals&strategy=sparse&syntax=true&top=3")
        page.wait("document.querySelector('.hit mark')")
        self.assertEqual({one.lower() for one in page.texts(".hit mark")}, {"otter", "winter"})
        page.run("[...document.querySelectorAll('.hit:first-child .actions button')][1].click()")
        page.wait("document.querySelector('dialog .chunk')")
        self.assertIn("dusk", page.text("dialog .document"))
        self.assertEqual({one.lower() for one in page.texts("dialog mark")}, {"otter", "winter"})

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
        self.assertEqual(page.run("document.querySelectorAll('.hit h2 mark').length"), 10, "those of the first page keep their marks")
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
        self.assertIn("otter", page.texts(".hit:first-child .around mark"), "words are marked there too")
        page.run("for (let i = 0; i < 3; ++i) document.querySelector('.hit:first-child .actions button').click()")
        page.settle()
        self.assertEqual(page.run("document.querySelectorAll('.hit:first-child .around p').length"), 0, "the last press counts, not the last answer")

    def test_says_why_a_chunk_is_not_there_and_changes_it(self):
        page = self.search("fox", "&c=animals&strategy=sparse&top=5")
        last = next(one for one in ("fox-quarry#2", "fox-quarry#1", "fox-quarry#0") if one not in self.ids())
        page.run("[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('Why not')).click()")
        page.wait("document.activeElement.id === 'why-id'")
        page.type(last)
        page.press("Enter")
        self.assertIn("rank", page.text("dialog .arithmetic"))
        self.assertRegex(page.text("dialog .change"), r"^It would appear with \d+ hits per page\.", "in the words of the controls")
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
        page.wait("document.querySelector('dialog .why .state, dialog .why .reason')", "its answer, after which the dialog stays where it is")
        page.run("window.asked = []; document.querySelector('#why-collection').value = 'wiki'")
        page.click("dialog button.primary")
        page.wait("window.asked.some(([path]) => path === '/v1/why_not')", "of the one chosen")
        asked = json.loads(page.run("window.asked.find(([path]) => path === '/v1/why_not')[1]"))
        self.assertEqual(asked["collections"], ["wiki", "animals"])

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
        page.type_fast("otter quarry")
        page.press("Enter")
        shown("otter+quarry")
        self.assertEqual(page.run("history.length"), begun + 1, "one for all that was typed")
        page.type_fast(" winter")
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
        page.type_fast(" marsh")
        page.wait("location.hash.includes('q=fox+marsh') && " + SHOWN)
        page.run("new Promise((done) => setTimeout(done, 2000))")  # by the page's own clock
        page.type_fast(" winter")
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
        page = self.search("fox winter", "&c=animals&weight=0.333&ns=default")
        self.assertEqual(page.text("[data-control=weight] + output .dense"), "dense 0.33", "between the steps of the slider")
        page = self.open("/#q=fox&c=animals&ns=nowhere")
        self.assertIn("nothing in the namespace “nowhere”", page.text(".states .instead"))
        self.assertEqual(page.run("document.querySelector('[data-control=namespace]').value"), "nowhere")
        page.click(".instead button")
        page.wait("!location.hash.includes('ns=') && " + SHOWN)

    def test_finds_one_of_many_collections(self):
        names = [f"shelf-{i:02}" for i in range(14)]
        for name in names:
            case.world.call("POST", f"/v1/collections/{name}/chunks", {"schema": {"embedder": "none"}, "chunks": [{"chunk_id": name, "content": "quince"}]})
            self.addCleanup(lambda name=name: case.world.call("DELETE", f"/v1/collections/{name}"))
        page = self.search("quince", "&c=shelf-11")
        self.assertEqual(page.texts(".checks label span")[0], "shelf-11", "the one that is chosen comes first")
        page.run("document.querySelector('.finder').focus()")
        page.type("F-1")
        page.wait("document.querySelectorAll('.checks label:not([hidden])').length === 4")
        page.tab_to("[data-control='collection shelf-12']")
        page.press(" ")
        page.wait("location.hash.includes('c=shelf-11,shelf-12') && document.querySelectorAll('.hit').length === 2")
        self.assertEqual(page.texts(".checks label:not([hidden]) span"), ["shelf-11", "shelf-12", "shelf-10", "shelf-13"])
        page = self.open("/collections")
        page.wait("document.querySelectorAll('.card').length === 12")
        self.assertEqual(page.text(".cards + button"), "4 more collections")
        page.run("document.querySelector('.finder').focus()")
        page.type("shelf-13")
        page.wait("[...document.querySelectorAll('.card h2')].map((e) => e.innerText).join() === 'shelf-13'")

    def test_lifts_what_keeps_hits_out(self):
        for rest, text in (("&threshold=1e9", "Show all"), ("&f.kind=%5B%22nothing%22%5D", "Clear filters"), ("&f.kind=%5B%7B%22a%22:1%7D%5D", "Clear filters")):
            with self.subTest(rest=rest):
                page = self.open(f"/#q=fox&c=animals{rest}")
                self.assertEqual(page.text(".states .state p button"), text)
                page.click(".states .state p button")
                page.wait(SHOWN)

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
        page = self.open("/#q=owl&c=birds,nowhere")
        page.wait("[...document.querySelectorAll('.instead button, .note')].some((e) => /birds|nowhere/.test(e.innerText))", "those that are there")
        for name in ("passing", "staying"):
            case.world.call("POST", f"/v1/collections/{name}/chunks", {"chunks": [{"chunk_id": "a", "content": "a passing owl"}]})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/staying"))
        page = self.search("owl", "&c=passing&strategy=sparse")
        case.world.call("DELETE", "/v1/collections/passing")
        page.run("const s = document.querySelector('[data-control=top]'); s.value = '5'; s.dispatchEvent(new Event('change'))")
        page.wait("document.querySelector('.instead')")
        self.assertIn("staying", page.text(".instead"))
        self.assertNotIn("passing", page.text(".checks"), "what was dropped meanwhile is not offered any more")


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

    def test_knows_which_configuration_is_meant(self):
        """What a column offers is about its own one, whichever the controls are about."""
        page = self.open("/#q=fox&c=animals&f.kind=%5B%22nothing%22%5D&vs&b.c=animals&b.strategy=sparse")
        page.wait("document.querySelector('.column:first-child .states .state')")
        page.run("[...document.querySelectorAll('.switch button')][1].click()")
        for name, title in (("Why not", "Why is it not on the right?"), ("Copy as", "Use the search on the right elsewhere")):
            page.run(f"[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('{name}')).click()")
            self.assertEqual(page.text("dialog h2"), title)
            page.press("Escape")
            page.wait("!document.querySelector('dialog')")
        page.click(".column:first-child .state button")
        page.wait("!location.hash.includes('f.kind') && document.querySelectorAll('.column:first-child .hit').length === 10")
        self.assertEqual(page.run("[...document.querySelectorAll('.switch button')].map((e) => e.ariaPressed).join()"), "true,false")

    def test_shows_collections_side_by_side_and_together(self):
        page = self.search("owl winter", "&c=animals&vs&b.c=birds")
        page.wait("document.querySelectorAll('.lines path').length > 2", "the same chunks of both")
        page.wait("document.querySelectorAll('.column').length === 2 && [...document.querySelectorAll('.column')].every((e) => e.querySelectorAll('.hit').length > 0)")
        page = self.search("owl winter", "&c=animals,birds")
        self.assertEqual(page.run("document.querySelectorAll('.leg').length"), 4)
        page.click(".hit:first-child .receipt-button")
        self.assertGreater(page.run("document.querySelectorAll('.hit:first-child .arithmetic .within').length"), 2, "a receipt within the receipt")
        self.assertIn("ranks counted from 0", page.text(".hit:first-child .arithmetic .total:not(.within)"))
