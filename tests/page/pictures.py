"""pictures.py BRAID FOLDER [--kept | NAME …]: states of the page as pictures, over the data of examples/.

Names are the beginnings of those wanted; --kept makes those of docs/pictures, most of them in half their size."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
SHOWN = "document.querySelectorAll('.hit').length > 0 && !document.querySelector('.column[aria-busy]')"
QUESTION = "who kept the lighthouse during the storm"

KEPT = ("search", "search-dark", "search-phone", "search-tablet", "loading", "welcome", "receipt-several", "compare", "why-not", "neighbours", "document", "copy", "keys", "nothing",
        "error", "strange", "collections", "drop-running", "drop-done", "drop-many", "receipt-phone", "collections-dark", "evaluate-measured", "docs-retrieve", "docs-rpc", "empty", "key", "key-wrong",
        "key-forbidden", "key-reader", "filters", "receipt", "offline", "missing", "docs-asked")
WHOLE_SIZE = ("search", "compare")

# Documents that strain a page: no spaces, right to left, markup, emptiness.
STRANGE = [
    {"chunk_id": "long", "title": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
     "content": "strange: " + "pneumonoultramicroscopicsilicovolcanoconiosis" * 12, "metadata": {"a_field_with_a_long_name_that_goes_on": "x" * 40}},
    {"chunk_id": "rtl", "document_id": "مستند", "chunk_index": 0, "title": "المنارة القديمة", "section_title": "العاصفة",
     "content": "strange: حافظ الحارس على ضوء المنارة طوال العاصفة، ثم كتب في السجل: lighthouse 1742.", "metadata": {"لغة": "عربي"}},
    {"chunk_id": "hebrew", "title": "המגדלור", "content": "strange: שומר המגדלור הדליק את האור בכל לילה.", "metadata": {}},
    {"chunk_id": "japanese", "title": "灯台", "content": "strange: 嵐の夜、灯台守は灯りを守り続けた。" * 6, "metadata": {"言語": "日本語"}},
    {"chunk_id": "hostile", "title": "<img src=x onerror=alert(1)>", "section_title": "</li></ol><script>alert(1)</script>",
     "content": "strange: <script>alert(1)</script> \"><svg onload=alert(1)> \u202egnp.exe\u202c [x](javascript:alert(1)) {{7*7}} \x00\x07 end".replace("\x00", ""),
     "metadata": {"<b>bold</b>": "<i>value</i>"}},
    {"chunk_id": "lines", "title": "Many lines", "content": "strange\n\n\n\n\n\nlines\n\twith tabs\n" + "a b c d e f g h i j k l m n o p " * 40, "metadata": {}},
]


class Server:
    def __init__(self, braid, data, *flags):
        self.process = subprocess.Popen([braid, "--data", data, "serve", "--port", "0", "--json", "--log", "none", *flags],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = json.loads(self.process.stdout.readline())["listening"]

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def pause(self, still):
        self.process.send_signal(signal.SIGSTOP if still else signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)


def fill(braid, data):
    run = lambda *words: subprocess.run([braid, "--data", data, "--quiet", *words], check=True, stdout=subprocess.DEVNULL)
    run("ingest", os.path.join(EXAMPLES, "wiki"), "--collection", "wiki")
    run("ingest", os.path.join(EXAMPLES, "memory.jsonl"), "--collection", "memory")
    run("ingest", os.path.join(EXAMPLES, "topics", "coastal-flooding"), "--collection", "topics", "--namespace", "coastal-flooding")
    run("ingest", os.path.join(EXAMPLES, "topics", "soil-microbes"), "--collection", "topics", "--namespace", "soil-microbes")


class Camera:
    def __init__(self, chromium, folder, names):
        self.chromium = chromium
        self.folder = folder
        self.kept = names == ["--kept"]
        self.names = names

    def take(self, name, url, ready, act=None, whole=False, **look):
        """One picture; `act(page)` does what leads to the state."""
        if self.kept and name not in KEPT or self.names and not self.kept and not name.startswith(tuple(self.names)):
            return
        page = self.chromium.page(**{"width": 1280, "height": 860, **look})
        try:
            page.go(url)
            page.wait(ready, name)
            if act:
                act(page)
            time.sleep(0.35)
            if self.kept:
                page.picture(os.path.join(self.folder, f"{name}.webp"), scale=1 if name in WHOLE_SIZE else 0.5)
            else:
                page.picture(os.path.join(self.folder, f"{name}.png"), whole=whole)
            if page.complaints:
                print(f"{name}: {page.complaints}")
            wide = page.run("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                print(f"{name}: {wide} pixels to scroll sideways")
        except AssertionError as error:
            page.picture(os.path.join(self.folder, f"{name}.png"))
            print(f"{name}: {error}")
        finally:
            page.close()


def button(text):
    script = f"[...document.querySelectorAll('button')].find((e) => e.innerText.trim().startsWith({json.dumps(text)}))"

    def act(page):
        page.wait(f"{script} !== undefined", f"button {text}")
        page.run(f"{script}.click()")
    return act


def both(*acts):
    def act(page):
        for one in acts:
            one(page)
    return act


def clicked(selector, then=None):
    def act(page):
        page.click(selector)
        if then:
            page.wait(then)
    return act


def ask_why(chunk):
    def act(page):
        button("Why not?")(page)
        page.wait("document.activeElement.id === 'why-id'")
        page.type(chunk)
        page.press("Enter")
        page.wait("document.querySelector('dialog .reason, dialog .error')")
    return act


def drop(page):
    page.run("""(() => {
        document.querySelector('#into').value = 'dropped';
        const files = new DataTransfer();
        files.items.add(new File(['# Bats\\n\\nBats hear with their ears.'], 'bats.md'));
        files.items.add(new File(['{"_id": "b1", "text": "A bat sleeps by day."}\\nnot json\\n'], 'more.jsonl'));
        files.items.add(new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], 'picture.png'));
        files.items.add(new File([Array.from({length: 900}, (_, i) => JSON.stringify({_id: 'n' + i, text: 'note ' + i + ' about the sea'})).join('\\n')], 'a-rather-long-name-of-a-file-with-notes.jsonl'));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
        document.querySelector('.drop').scrollIntoView({block: 'center'});
    })()""")
    page.wait("document.querySelectorAll('.progress li').length === 4")


def drop_many(page):
    """Sixty files, one of no format."""
    page.run("""(() => {
        document.querySelector('#into').value = 'dropped';
        const files = new DataTransfer();
        for (let i = 0; i < 60; ++i) files.items.add(i === 9 ? new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0])], 'picture.png') : new File([`# Note ${i}\n\nThe sea, number ${i}.`], `note-${i}.md`));
        document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
        document.querySelector('.drop').scrollIntoView({block: 'center'});
    })()""")
    page.wait("document.querySelectorAll('.progress .done').length > 20")


def measured(page):
    page.files("#eval-queries", [os.path.join(EXAMPLES, "queries", "wiki.jsonl")])
    page.files("#eval-qrels", [os.path.join(EXAMPLES, "qrels", "wiki.tsv")])
    page.run("const s = document.querySelector('#eval-collection'); s.value = 'wiki'; s.dispatchEvent(new Event('change'))")
    page.click("form.drop button.primary")
    page.wait("document.querySelectorAll('.measures tbody tr').length === 3 && !document.querySelector('form.drop button').disabled", timeout=120)


def tried(selector):
    return both(clicked(f"{selector} summary"), clicked(f"{selector} .trial button.primary", f"document.querySelector('{selector} .answer pre')"))


def slow(server):
    """A search that is not answered yet."""
    def act(page):
        server.pause(True)
        page.run("document.querySelector('#query').focus()")
        page.type(" of")
        page.wait("document.querySelector('.column[aria-busy]')")
        time.sleep(0.3)
    return act


def searches(camera, server):
    url = server.url
    found = f"{url}/#q={QUESTION.replace(' ', '+')}&c=wiki"
    camera.take("search", found, SHOWN)
    camera.take("search-dark", found, SHOWN, dark=True)
    for name, width, height, phone in (("phone", 360, 780, True), ("tablet", 820, 1100, True), ("wide", 1920, 1000, False)):
        camera.take(f"search-{name}", found, SHOWN, width=width, height=height, phone=phone)
    camera.take("search-phone-controls", found, SHOWN, clicked(".side summary"), width=360, height=780, phone=True, whole=True)
    camera.take("search-whole", found, SHOWN, whole=True)
    camera.take("loading", found, SHOWN, slow(server))
    server.pause(False)
    camera.take("welcome", url, "document.querySelector('.welcome')")
    camera.take("welcome-phone", url, "document.querySelector('.welcome')", width=360, height=780, phone=True)
    opened = clicked(".hit:first-child .receipt-button", "document.querySelector('.arithmetic')")
    camera.take("receipt", found, SHOWN, opened)
    for method in ("weighted_sum", "dbsf", "auto"):
        camera.take(f"receipt-{method}", f"{found}&fusion={method}", SHOWN, opened)
    camera.take("receipt-phone", found, SHOWN, opened, width=360, height=780, phone=True)
    camera.take("receipt-several", f"{url}/#q=harbour+storm&c=wiki,memory", SHOWN, opened)
    camera.take("multi-hop", f"{found}&strategy=multi_hop", SHOWN, opened)
    camera.take("filters", f"{url}/#q=how+to+write+to+her&c=memory&f.kind=%5B%22preference%22%5D", SHOWN + " && document.querySelector('.filters label')",
                lambda page: page.run("scrollBy(0, document.querySelector('.filters').getBoundingClientRect().top - 110)"))
    camera.take("namespace", f"{url}/#q=surge+barrier&c=topics&ns=coastal-flooding", SHOWN)
    two = f"{found}&vs&b.c=wiki&b.strategy=sparse"
    lines = SHOWN + " && document.querySelectorAll('.lines path').length > 1"
    camera.take("compare", two, lines)
    camera.take("compare-dark", two, lines, dark=True)
    camera.take("compare-tablet", two, SHOWN, width=820, height=1100)
    camera.take("compare-phone", two, SHOWN, width=360, height=780, phone=True, whole=True)
    camera.take("compare-wide", two, lines, width=1920, height=1000)
    camera.take("why-not", found, SHOWN, ask_why("people/hanne-brisk.md#0"))
    camera.take("why-not-unknown", found, SHOWN, ask_why("no such chunk"))
    camera.take("neighbours", found, SHOWN, both(clicked(".hit:first-child .actions button"), lambda page: page.wait("document.querySelector('.hit:first-child .around p')")))
    document = both(button("Document"), lambda page: page.wait("document.querySelector('dialog .chunk')"))
    camera.take("document", found, SHOWN, document)
    camera.take("document-dark", found, SHOWN, document, dark=True)
    camera.take("document-phone", found, SHOWN, document, width=360, height=780, phone=True)
    camera.take("copy", f"{found}&strategy=sparse&top=5", SHOWN, button("Copy as"))
    camera.take("copy-phone", found, SHOWN, button("Copy as"), width=360, height=780, phone=True)
    camera.take("keys", found, SHOWN, both(lambda page: page.run("document.querySelector('.receipt-button').focus()"), lambda page: page.press("?")))
    camera.take("nothing", f"{url}/#q=qwxzv&c=wiki&strategy=sparse", "document.querySelector('.states .state')")
    camera.take("nothing-filtered", f"{url}/#q=harbour&c=wiki&strategy=sparse&f.source_format=%5B%22pdf%22%5D", "document.querySelector('.states .state')")
    camera.take("error", f"{url}/#q=x&c=nowhere", "document.querySelector('.state.error')")
    camera.take("missing", f"{url}/nowhere", "document.querySelector('main h1')")
    camera.take("error-collections", f"{url}/#q=x&c=wiki,nowhere", SHOWN)
    strange = f"{url}/#q=strange+lighthouse&c=strange"
    camera.take("strange", strange, SHOWN, whole=True)
    camera.take("strange-phone", strange, SHOWN, whole=True, width=360, height=780, phone=True)
    camera.take("strange-two", f"{strange}&vs&b.c=strange&b.fusion=dbsf", SHOWN, whole=True)


def others(camera, url):
    cards = "document.querySelectorAll('.card .bars').length >= 4 && document.querySelectorAll('.histogram').length > 2"
    camera.take("collections", f"{url}/collections", cards, whole=True, height=1240)
    camera.take("collections-dark", f"{url}/collections", cards, dark=True)
    camera.take("collections-phone", f"{url}/collections", cards, whole=True, width=360, height=780, phone=True)
    camera.take("drop-running", f"{url}/collections", cards, drop)
    camera.take("drop-done", f"{url}/collections", cards, both(drop, lambda page: page.wait("document.querySelectorAll('.progress .done, .progress .partly, .progress .failed').length === 4", timeout=90)))
    camera.take("drop-many", f"{url}/collections", cards, drop_many)
    camera.take("evaluate", f"{url}/evaluate", "document.querySelector('#eval-queries')")
    camera.take("evaluate-measured", f"{url}/evaluate", "document.querySelector('#eval-queries')", measured, height=1560)
    camera.take("evaluate-phone", f"{url}/evaluate", "document.querySelector('#eval-queries')", measured, width=360, height=780, phone=True, whole=True)
    tools = "document.querySelectorAll('#tag-mcp .operation').length > 3"
    camera.take("docs", f"{url}/docs", tools)
    camera.take("docs-whole", f"{url}/docs", tools, whole=True)
    camera.take("docs-try", f"{url}/docs", tools, tried("#op-listCollections"))
    camera.take("docs-retrieve", f"{url}/docs", tools, clicked("#op-retrieve summary"), whole=True)
    camera.take("docs-rpc", f"{url}/docs", tools, clicked("#tag-rpc .trial button.primary", "document.querySelector('#tag-rpc .answer pre')"))
    camera.take("docs-asked", f"{url}/docs#op-compact", "document.querySelector('#op-compact .trial')", both(lambda page: page.run("document.querySelector('#op-compact .trial input').value = 'wiki'"), clicked("#op-compact .trial button.primary")))
    camera.take("docs-phone", f"{url}/docs", tools, tried("#op-listCollections"), width=360, height=780, phone=True)


def troubles(camera, braid, data, scratch):
    empty = Server(braid, os.path.join(scratch, "empty"))
    try:
        camera.take("empty", empty.url, "document.querySelector('.welcome')")
        camera.take("empty-collections", f"{empty.url}/collections", "document.querySelector('.drop')")
        camera.take("empty-evaluate", f"{empty.url}/evaluate", "document.querySelector('main .state')")
    finally:
        empty.stop()
    keys = os.path.join(scratch, "keys.json")
    made = subprocess.run([braid, "keys", "add", "reader", "--file", keys, "--grant", "wiki=read", "--json"], capture_output=True, text=True, check=True)
    key = json.loads(made.stdout)["key"]
    guarded = Server(braid, data, "--key-file", keys)

    def enter(text):
        def act(page):
            page.type(text)
            page.press("Enter")
        return act
    try:
        asked = "document.querySelector('#api-key')"
        camera.take("key", f"{guarded.url}/#q=harbour&c=wiki", asked)
        camera.take("key-phone", f"{guarded.url}/#q=harbour&c=wiki", asked, width=360, height=780, phone=True)
        camera.take("key-wrong", f"{guarded.url}/#q=harbour&c=wiki", asked, both(enter("wrong"), lambda page: page.wait("document.querySelector('dialog .error:not([hidden])')")))
        camera.take("key-cancelled", f"{guarded.url}/#q=harbour&c=wiki", asked, lambda page: page.press("Escape"))
        camera.take("key-reader", f"{guarded.url}/#q=harbour&c=wiki", asked, both(enter(key), lambda page: page.wait(SHOWN)))
        camera.take("key-reader-collections", f"{guarded.url}/collections", asked, both(enter(key), lambda page: page.wait("document.querySelector('.card .bars')")))
        camera.take("key-forbidden", f"{guarded.url}/#q=harbour&c=memory", asked, both(enter(key), lambda page: page.wait("document.querySelector('.state.error')")))
    finally:
        guarded.stop()

    def gone(page):
        serving.stop()
        page.run("document.querySelector('#query').focus()")
        page.type(" at")
        page.wait("document.querySelector('#notice p')")
    serving = Server(braid, data)
    try:
        camera.take("offline", f"{serving.url}/#q=harbour&c=wiki", SHOWN, gone)
    finally:
        serving.stop()


def main():
    braid, folder, *names = sys.argv[1:]
    braid = os.path.abspath(braid)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="braid-pictures-") as scratch:
        data = os.path.join(scratch, "data")
        fill(braid, data)
        chromium = browser.Browser(browser.find())
        camera = Camera(chromium, folder, names)
        server = Server(braid, data)
        try:
            server.post("/v1/collections", {"name": "strange"})
            server.post("/v1/collections/strange/chunks", {"chunks": STRANGE})
            searches(camera, server)
            others(camera, server.url)
            server.stop()
            troubles(camera, braid, data, scratch)
        finally:
            server.stop()
            chromium.close()


if __name__ == "__main__":
    main()
