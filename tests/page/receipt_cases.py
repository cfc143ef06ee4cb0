"""Receipts: their pictures, their arithmetic, and what the page computes again."""
import json

import case
from case import PageTest


def counts(receipt, path):
    """Whether a number has a say in the score."""
    fusion, name = receipt["fusion"], path[-1]
    if path[0] == "stages" and "features" in path:
        return False  # what the trees saw; what they made of it counts
    if path[0] == "sources" and "receipt" in path[2:]:
        at = path.index("receipt")
        return counts(receipt["sources"][path[1]]["receipt"], path[at + 1:])
    if path[0] == "fusion":
        if "choice" in path:
            return name not in ("lowest", "highest")  # unless the weight is one of them
        return name == "k" or name != "rank_base" and path[2] in [one["source"] for one in receipt["sources"]]
    if name == "rank":
        return fusion["method"] == "rrf"
    if name == "score" and path[0] == "sources":
        return fusion["method"] != "rrf" or "receipt" in receipt["sources"][path[1]]
    return name != "weight" or fusion["method"] != "none"


def forgeries(receipt):
    """(path, receipt) for each number that has a say, with that number changed."""
    def walk(value, path):
        if isinstance(value, dict):
            for name, one in value.items():
                yield from walk(one, (*path, name))
        elif isinstance(value, list):
            for i, one in enumerate(value):
                yield from walk(one, (*path, i))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path
    for path in walk(receipt, ()):
        if not counts(receipt, path):
            continue
        copy = json.loads(json.dumps(receipt))
        place = copy
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = place[path[-1]] * 1.001 + 0.001
        yield path, copy


# A learned ranking of two trees.
RANKER = {"braid_ranker": 1, "features": ["coverage", "length", "fused_norm"], "prior": 0.7, "made": {},
          "trees": [{"feature": [0, 2], "threshold": [0.4, 0.6], "left": [-1, -2], "right": [1, -3], "value": [0.11, 0.23], "leaves": [-0.31, 0.17, 0.29]},
                    {"feature": [1], "threshold": [2.9], "left": [-1], "right": [-2], "value": [0.013], "leaves": [0.037, -0.051]}]}


class Receipts(PageTest):
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
        read = {"rrf": "ranks and weights", "weighted_sum": "scores, weights and ranges", "dbsf": "scores, means and deviations", "auto": "scores, ranges and signals"}
        for method in read:
            for where in ("animals", "animals,birds"):
                page = self.search("fox in the orchard", f"&c={where}&fusion={method}&top=5")
                page.run("document.querySelectorAll('.receipt-button').forEach((e) => e.click())")
                self.assertEqual(page.run("document.querySelectorAll('.proof:not(.broken)').length"), 5, method)
                for told in page.texts(".proof"):
                    self.assertIn(": the same bits", told)
                    if where == "animals":
                        self.assertIn(f"✓ Computed here from the legs’ {read[method]}: ", told)
        self.assertIn("auto gave dense", page.text(".arithmetic"))

    def proofs(self, receipts):
        """What the page says of each."""
        return self.page.run(f"import('/page/proof.js').then(({{ prove, inWords }}) => {json.dumps(receipts)}.map((one) => inWords(prove(one))))")

    def test_finds_every_number_that_was_changed(self):
        """A receipt in which one number was forged, whichever it is, is not the same any more."""
        self.open("/")
        self.page.wait("document.querySelector('.welcome')")
        def rank(ranker):
            return case.world.call("POST", "/rpc", {"jsonrpc": "2.0", "id": 1, "method": "braid.set_ranker", "params": {"collection": "animals", "ranker": ranker}})
        self.assertIn("result", rank(RANKER))
        self.addCleanup(rank, None)
        wall = [{"boost_fields": {"filter": {"kind": "guide"}, "factor": 1.3}}, {"boost_section_matches": {"sections": ["Winter", "Habits"]}}]
        for request in ({"fusion": "rrf"}, {"fusion": "weighted_sum"}, {"fusion": "dbsf"}, {"fusion": "auto"}, {"strategy": "dense"}, {"strategy": "sparse"}, {"strategy": "multi_hop"},
                        {"fusion": "rrf", "stages": ["mmr"]}, {"fusion": "rrf", "stages": ["rank"]}, {"fusion": "weighted_sum", "stages": wall}, {"fusion": "auto", "collections": ["animals", "birds"], "across": "ranks"},
                        {"fusion": "dbsf", "collections": ["birds", "animals"], "across": "scores"}):
            with self.subTest(request=request):
                where = {} if "collections" in request else {"collection": "animals"}
                hits = case.world.call("POST", "/v1/retrieve", {"query": "owl in the orchard", "top_k": 8, **where, **request})["chunks"]
                named = [one for one in request.get("stages", []) if isinstance(one, str)]
                told = f"^Taken as given: the parts that the stage {named[0]} adds up. All else, computed here: the same bits$" if named else "^✓ Computed here from the legs’ .*: the same bits$"
                for one in self.proofs([one["receipt"] for one in hits]):
                    self.assertRegex(one, told)
                receipt = max((one["receipt"] for one in hits), key=lambda one: len(json.dumps(one)))
                forged = list(forgeries(receipt))
                self.assertGreater(len(forged), 3)
                for (path, _), told in zip(forged, self.proofs([one for _, one in forged])):
                    self.assertTrue(told.startswith("✗"), f"{path}: {told}")

    def test_says_what_it_takes_as_given(self):
        self.open("/")
        self.page.wait("document.querySelector('.welcome')")
        hits = case.world.call("POST", "/v1/retrieve", {"query": "owl", "collection": "animals", "fusion": {"method": "rrf", "preset": "qdrant"}})["chunks"]
        self.assertEqual(self.proofs([hits[0]["receipt"]]), ["Taken as given: the sum, by the rrf of qdrant. All else, computed here: the same bits"])
        receipt = hits[0]["receipt"]
        receipt["stages"], receipt["score"] = [{"stage": "rerank", "operation": "replace", "value": 0.9, "score": 0.9}], 0.9
        self.assertIn("what the stage rerank says", self.proofs([receipt])[0])

    def test_fits_where_there_is_little_room(self):
        """Nothing of an opened receipt has to be scrolled for, on a phone and beside another configuration."""
        narrow = {"width": 360, "height": 740, "phone": True}
        for look, rest in ((narrow, "&c=animals"), (narrow, "&c=animals&fusion=weighted_sum"), (narrow, "&c=animals&fusion=auto"), (narrow, "&c=animals,birds&fusion=dbsf"),
                           ({**narrow, "width": 320}, "&c=animals,birds"), ({"width": 820}, "&c=animals,birds&fusion=weighted_sum"), ({}, "&c=animals,birds&fusion=weighted_sum&vs&b.c=birds")):
            with self.subTest(rest=rest, **look):
                page = self.search("fox in the orchard", rest + "&top=3", **look)
                page.run("document.querySelectorAll('.receipt-button').forEach((e) => e.click())")
                wide = page.run("[...document.querySelectorAll('.arithmetic, .arithmetic *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.outerHTML.slice(0, 80))")
                self.assertEqual(wide, [])
                cut = page.run("[...document.querySelectorAll('.arithmetic td, .arithmetic th, .proof')].filter((e) => e.getBoundingClientRect().right > innerWidth).length")
                self.assertEqual(cut, 0)
