"""Filters from facets: every field, every value, exact counts, names that are hard on programs."""
import collections
import json
import os
import subprocess

import case
from case import PageTest, SHOWN
from world import vector

SHELVES = 70


def book(i):
    """Seventy shelves, the first ones fuller; lists, members of members, and more fields than are shown at first."""
    shelf = i % SHELVES if i < 140 else i % 10
    metadata = {"shelf": f"shelf {shelf:02}", "tags": ["paper"] + (["rare", "rare"] if i % 3 == 0 else []), "author": {"name": f"Author {i % 4}", "born": 1900 + i % 2},
                "lent": i % 2 == 0, "code": 7 if i % 5 else "7", **{f"extra{n:02}": n for n in range(12)}}
    return {"chunk_id": f"book{i:03}", "content": f"folio number {i}", "metadata": metadata, "vector": vector(f"folio number {i}")}


class Filters(PageTest):
    BOOKS = [book(i) for i in range(200)]

    @classmethod
    def setUpClass(cls):
        case.world.call("POST", "/v1/collections/books/chunks", {"chunks": cls.BOOKS})

    @classmethod
    def tearDownClass(cls):
        case.world.call("DELETE", "/v1/collections/books")

    def field(self, name):
        """Opens the field, and gives its values as they are shown, with their counts."""
        page = self.page
        page.wait("document.querySelector('.filters details')", "fields")
        page.run("document.querySelector('.filters > button')?.click()")
        page.settle()  # the fields are those of this search, and stay
        page.wait(f"[...document.querySelectorAll('.filters summary')].some((e) => e.firstChild.textContent === {json.dumps(name)})", f"the field {name}")
        page.run(f"""(() => {{
            const box = [...document.querySelectorAll('.filters details')].find((e) => e.querySelector('summary').firstChild.textContent === {json.dumps(name)});
            document.querySelectorAll('.filters details').forEach((e) => e.removeAttribute('id'));
            box.id = 'field';
            if (!box.open) box.querySelector('summary').click();
        }})()""")
        return self.values()

    def values(self):
        self.page.wait("document.querySelector('#field label')", "values")
        return {name: int(count) for name, count in self.page.run("[...document.querySelectorAll('#field label')].map((e) => [e.querySelector('span').textContent, e.querySelector('small').textContent])")}

    def test_offers_every_field_and_every_value(self):
        page = self.search("folio", "&c=books&strategy=sparse")
        page.wait("[...document.querySelectorAll('.filters > button')].some((e) => e.innerText === '6 more fields')", "the rest on request")
        self.assertEqual(page.run("document.querySelectorAll('.filters details').length"), 12)
        page.click(".filters > button")
        page.wait("document.querySelectorAll('.filters details').length === 18", "all of them")
        self.assertIn("extra11", page.texts(".filters summary"))
        self.assertEqual(self.field("tags"), {"paper": 200, "rare": 67}, "of lists, each element once")
        self.assertEqual(self.field("author.name"), {f"Author {i}": 50 for i in range(4)})
        self.assertEqual(self.field("lent"), {"true": 100, "false": 100})
        shelves = collections.Counter(one["metadata"]["shelf"] for one in self.BOOKS)
        self.assertEqual(self.field("shelf"), dict(shelves.most_common(8)))
        for shown in (58, 70):
            page.run("[...document.querySelectorAll('#field button')].find((e) => e.innerText === 'More values').click()")
            page.wait(f"document.querySelectorAll('#field label').length === {shown}", "more values")
        self.assertEqual(self.values(), shelves)
        self.assertFalse(page.run("[...document.querySelectorAll('#field button')].some((e) => e.innerText === 'More values')"), "that was all")
        page.run("[...document.querySelectorAll('#field label')].find((e) => e.innerText.includes('shelf 69')).querySelector('input').focus()")
        page.press(" ")
        page.wait("location.hash.includes('shelf+69') && document.querySelectorAll('.hit').length === 2", "the two books of the shelf")
        page.wait("document.activeElement.dataset.filter === 'value shelf \"shelf 69\"'", "the focus stays where it was")

    def test_opens_what_there_is_to_choose_from(self):
        chunks = [{"chunk_id": f"n{i}", "content": "ledger", "vector": vector("ledger"), "metadata": {"at": f"entry {i:02}", "kind": "debit" if i % 2 else "credit"}} for i in range(20)]
        case.world.call("POST", "/v1/collections/ledger/chunks", {"chunks": chunks})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/ledger"))
        page = self.search("ledger", "&c=ledger&strategy=sparse")
        page.wait("document.querySelector('.filters label')")
        opened = "[...document.querySelectorAll('.filters details[open] summary')].map((e) => e.firstChild.textContent).join()"
        page.wait(f"{opened} === 'kind'", "not a value for each chunk")
        self.field("at")
        page.run("[...document.querySelectorAll('.filters label')].find((e) => e.innerText.includes('debit')).querySelector('input').click()")
        page.wait("location.hash.includes('debit') && document.querySelectorAll('.filters input:checked').length === 1")
        page.wait(f"{opened} === 'kind,at'", "what somebody opened stays open")

    def test_takes_a_value_that_is_typed(self):
        page = self.search("folio", "&c=books&strategy=sparse&top=50")
        self.field("shelf")
        page.run("document.querySelector('#field .typed input').focus()")
        page.type("nowhere")
        page.press("Enter")
        page.wait("document.querySelector('#field .typed .none').innerText.includes('No chunk has shelf “nowhere”')", "what no chunk has is not chosen")
        page.run("document.querySelector('#field .typed input').value = ''")
        page.type("shelf 65")
        page.press("Enter")
        page.wait("location.hash.includes('f.shelf=%5B%22shelf+65%22%5D') && document.querySelectorAll('.hit').length === 2")
        page.wait("[...document.querySelectorAll('.filters label')].some((e) => e.innerText.includes('shelf 65') && e.querySelector('input').checked)", "it is in the list now")

    def between(self, low, high):
        """Fills in both ends of the range that is open, and applies it."""
        self.page.run(f"(() => {{ const ends = document.querySelectorAll('#field .range input'); [ends[0].value, ends[1].value] = {json.dumps([low, high])}; document.querySelector('#field .range button').click(); }})()")

    def test_filters_from_one_value_to_another(self):
        """Numbers with all digits, days to their end, in either order; a range takes the place of values, and stands in the address."""
        first = 2**53
        chunks = [{"chunk_id": f"n{i}", "content": "almanac", "vector": vector("almanac"), "metadata": {"number": first + i, "day": f"2024-03-{i + 1:02}" + ("T18:30:00Z" if i % 2 else ""), "word": "same"}} for i in range(20)]
        case.world.call("POST", "/v1/collections/almanac/chunks", {"chunks": chunks})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/almanac"))
        address = "&c=almanac&strategy=sparse&top=50"
        for field, low, high, found, text in (("number", str(first + 1), str(first + 3), (1, 2, 3), f"{first + 1} to {first + 3}"), ("number", "", str(first + 1), (0, 1), f"to {first + 1}"),
                                              ("day", "2024-03-12", "2024-03-10", (9, 10, 11), "2024-03-10 to 2024-03-12"), ("day", "2024-03-19", "", (18, 19), "from 2024-03-19")):
            with self.subTest(field=field, low=low, high=high):
                page = self.search("almanac", address)
                self.field(field)
                page.run("document.querySelector('#field input[type=checkbox]').click()")
                page.wait("document.querySelectorAll('.hit').length === 1")
                self.field(field)
                self.between(low, high)
                for _ in range(2):
                    page.wait(f"document.querySelectorAll('.hit').length === {len(found)}", text)
                    self.assertEqual(set(self.ids()), {f"n{i}" for i in found})
                    page.wait(f"[...document.querySelectorAll('.filters input:checked')].map((e) => e.parentElement.innerText.replaceAll('\\n', ' ')).join() === {json.dumps(f'{text} {len(found)}')}", "the range alone is chosen")
                    page = self.open(page.run("location.href").removeprefix(case.world.url))  # the same from its address
                page.wait("document.querySelector('.filters input:checked')")
                page.run("document.querySelector('.filters input:checked').click()")
                page.wait("document.querySelectorAll('.hit').length === 20", "all of them again")
        page = self.search("almanac", address)
        self.field("number")
        self.between("many", "")
        self.assertEqual(page.text("#field .range p"), "“many” is not a number.")
        self.field("word")
        self.assertFalse(page.run("!!document.querySelector('#field .range')"), "words have no range")

    def test_counts_exactly_over_several_collections(self):
        """The lists of each collection hold other values first; every one of the 600 is counted in both."""
        def many(first):
            return [{"chunk_id": f"{first}-{i}-{n}", "content": "tally", "vector": vector("tally"), "metadata": {"value": f"v{i:03}"}}
                    for i in range(600) for n in range(2 if i < 100 and first == "one" or i >= 500 and first == "two" else 1)]
        for name in ("one", "two"):
            case.world.call("POST", f"/v1/collections/{name}/chunks", {"chunks": many(name)})
            self.addCleanup(lambda name=name: case.world.call("DELETE", f"/v1/collections/{name}"))
        self.search("tally", "&c=one,two&strategy=sparse")
        values = self.field("value")
        self.assertEqual(set(values.values()), {3}, values)

    def test_filters_by_fields_of_any_name(self):
        odd = {"__proto__": "p", "$or": "o", "constructor": "c", "": "none", "title": "t", "a.b": 1, "metadata": {"deep": True}}
        case.world.call("POST", "/v1/collections/odd/chunks", {"chunks": [
            {"chunk_id": "odd", "content": "curio", "metadata": odd, "vector": vector("curio")}, {"chunk_id": "even", "content": "curio", "vector": vector("curio")}]})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/odd"))
        for name in ("__proto__", "$or", "constructor", "(no name)", "title", "a.b", "metadata.deep"):
            with self.subTest(name=name):
                page = self.search("curio", "&c=odd&strategy=sparse")
                self.assertEqual(list(self.field(name).values()), [1])
                page.click("#field input")
                page.wait("document.querySelectorAll('.hit').length === 1", "filtered")
                page = self.open(page.run("location.href").removeprefix(case.world.url))
                page.wait("document.querySelectorAll('.hit').length === 1 && document.querySelectorAll('.filters input:checked').length === 1", "the same from its address")
        page = self.open("/#q=curio&c=odd&strategy=sparse&f.%24or=%5B%22o%22%5D&vs&b.c=odd&b.strategy=sparse&b.f.__proto__=%5B%22p%22%5D")
        page.wait("[...document.querySelectorAll('.column')].map((e) => e.querySelectorAll('.hit').length).join() === '1,1'")

    def test_keeps_every_digit_of_large_integers(self):
        """Neighbours that are the same as a JavaScript number: shown, filtered, shared, typed and copied apart."""
        first = 2**53
        chunks = [{"chunk_id": f"n{i}", "content": "serial", "vector": vector("serial"), "metadata": {"serial": first + i, "low": -(2**63) + i}} for i in range(12)]
        case.world.call("POST", "/v1/collections/serials/chunks", {"chunks": chunks})
        self.addCleanup(lambda: case.world.call("DELETE", "/v1/collections/serials"))
        page = self.search("serial", "&c=serials&strategy=sparse&top=20")
        self.assertIn(f"serial {first + 1}", page.texts(".hit .tag"))
        self.assertEqual(set(self.field("low").values()), {1})
        for i in (1, 2, 3):
            with self.subTest(i=i):
                page = self.search("serial", f"&c=serials&strategy=sparse&f.serial=%5B{first + i}%5D")
                self.assertEqual(self.ids(), [f"n{i}"])
        self.field("serial")
        page.run(f"[...document.querySelectorAll('#field label')].find((e) => e.innerText.includes('{first + 1}')).querySelector('input').click()")
        page.wait("document.querySelectorAll('.hit').length === 2", "two of them")
        page = self.open(page.run("location.href").removeprefix(case.world.url))
        page.wait("document.querySelectorAll('.hit').length === 2 && document.querySelectorAll('.filters input:checked').length === 2", "the same from its address")
        page.run("[...document.querySelectorAll('.toolbar button')].find((e) => e.innerText.includes('Copy')).click()")
        page.wait("document.querySelectorAll('dialog pre').length === 3")
        for text in page.texts("dialog pre"):
            self.assertIn(f"[{first + 3},{first + 1}]", text.replace(" ", ""))
        page = self.search("serial", "&c=serials&strategy=sparse")
        self.field("serial")
        page.run("document.querySelector('#field .typed input').focus()")
        page.type(str(first + 11))
        page.press("Enter")
        page.wait("document.querySelectorAll('.hit').length === 1 && document.querySelector('.hit .origin').textContent === 'n11'", "the one that was typed")

    def test_asks_again_after_a_rate_limit(self):
        keys = os.path.join(case.world.folder, "slow-keys.json")
        made = subprocess.run([case.BRAID, "keys", "add", "slow", "--file", keys, "--grant", "*=read", "--json"], capture_output=True, text=True, check=True)
        case.world.stop()
        case.world.start("--key-file", keys, "--rate", "2")
        try:
            page = self.open("/#q=folio&c=books")
            page.wait("document.querySelector('#api-key')")
            page.type(json.loads(made.stdout)["key"])
            page.press("Enter")
            page.wait("document.querySelectorAll('.filters label').length > 4", "values, though too many requests were made at first")
            page.wait(SHOWN)
        finally:
            case.world.stop()
            case.world.start()
