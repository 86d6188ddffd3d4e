"""The playground in Chromium: trainc in a worker, its views, links, hostile input, and no request to another host.

Reads build/site/site/playground, which `make site` writes. Skipped with a reason without it, Chromium or playwright; if
CI is set, that is a failure. If TRAINC_PICTURES names a folder, screenshots are saved there.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from browsing import Visit, chromium, served, skip_or_fail
from make_site import ROOT

SITE: Final = ROOT / "build" / "site" / "site"
WIDTHS: Final = (390, 1280)
SCHEMES: Final = ("light", "dark")
TABS: Final = ("jobset", "pods", "graph", "review", "migrate")
PASTE: Final = """text => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true});
  document.querySelector("#editor .cm-content").dispatchEvent(event);
}"""
JOB: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
"""
ATTACK: Final = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"
HOSTILE: Final = f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: a, annotations: {{a.example.com/b: '{ATTACK}'}}}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    numNodes: 2
    image: '{ATTACK}'
    command: ['{ATTACK}']
    env: [{{name: A, value: '{ATTACK}'}}]
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: '{ATTACK}'
metadata: {{name: '{ATTACK}'}}
"""
BOMB: Final = "b0: &b0 [x]\n" + "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * 9)}]\n" for i in range(1, 12))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "playground").is_dir():
        skip_or_fail("the playground: make site")
    with served(SITE) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


class Playground(Visit):
    """The open playground."""

    def __init__(self, page: Any, address: str, fragment: str = "") -> None:
        super().__init__(page, address, f"playground/{fragment}", until="load")
        self.compiled()

    def compiled(self, than: str = "0") -> str:
        """Wait until a later compilation is shown, and return its number."""
        self.page.wait_for_selector(f"body[data-compiled]:not([data-compiled='{than}'])", timeout=60_000)
        found: str = self.page.get_attribute("body", "data-compiled")
        return found

    def paste(self, text: str) -> None:
        """Replace the manifest by a paste."""
        self.page.focus("#editor .cm-content")
        self.page.keyboard.press("Control+a")
        self.page.evaluate(PASTE, text)

    def write(self, text: str) -> None:
        """Replace the manifest, and wait for its compilation."""
        before = self.page.get_attribute("body", "data-compiled")
        self.paste(text)
        self.compiled(before)

    def follow(self, fragment: str) -> None:
        """Follow a link to an example or a text, and wait for its compilation."""
        before = self.page.get_attribute("body", "data-compiled")
        self.page.evaluate("fragment => { location.hash = fragment; }", fragment)
        self.compiled(before)

    def select(self, tab: str, having: str = "") -> str:
        """Open a view, wait until it has a text, and return all its text."""
        self.page.click(f"#tab-{tab}")
        self.page.wait_for_selector(f"#{tab}:has-text({json.dumps(having)})")
        found: str = self.page.inner_text(f"#{tab}")
        return found

    def sent_nothing_and_had_no_fault(self) -> None:
        """Check the page, which sent no request to another host and logged no error."""
        assert self.outside == []
        assert self.faults == []


@pytest.fixture(scope="module")
def shared(browser: Any, address: str) -> Playground:
    """A page with Python, which loads once for the tests of this file."""
    return Playground(browser.new_page(viewport={"width": 1280, "height": 900}), address)


@pytest.fixture
def playground(shared: Playground, request: pytest.FixtureRequest) -> Iterator[Playground]:
    """The shared page with the default example."""
    shared.faults.clear()
    shared.follow(f"example=llm-finetune-4x8&test={request.node.name}")
    shared.page.click("#tab-jobset")
    yield shared
    shared.sent_nothing_and_had_no_fault()


def test_typing_changes_the_jobset(playground: Playground) -> None:
    before = playground.page.get_attribute("body", "data-compiled")
    assert "parallelism: 4" in playground.page.inner_text("#output")
    playground.page.click("#editor .cm-line:has-text('numNodes: 4')")
    playground.page.keyboard.press("End")
    playground.page.keyboard.press("Backspace")
    playground.page.keyboard.type("8")
    playground.compiled(before)
    assert "parallelism: 8" in playground.page.inner_text("#output")


def test_a_fix_is_applied(playground: Playground) -> None:
    playground.write(JOB.replace("kind: TrainJob", "kind: Trainjob"))
    assert "unknown-kind" in playground.page.inner_text("#diagnostics")
    assert playground.page.locator("#editor .cm-lintRange-error").count() == 1
    before = playground.page.get_attribute("body", "data-compiled")
    playground.page.click("#diagnostics .fix")
    playground.compiled(before)
    assert "unknown-kind" not in playground.page.inner_text("#diagnostics")
    assert "kind: JobSet" in playground.page.inner_text("#output")


def test_a_line_of_the_output_leads_to_the_line_that_set_it(playground: Playground) -> None:
    playground.page.click("#output .cm-line:has-text('parallelism: 4')")
    playground.page.wait_for_selector("#editor .cm-marked")
    assert playground.page.locator("#editor .cm-marked").all_inner_texts() == ["    numNodes: 4"]
    explanation = playground.page.inner_text("#explanation")
    assert explanation.endswith("template.spec.parallelism is set by the TrainJob (job.yaml:11) numNodes: 4")


def test_a_line_of_the_input_leads_to_the_fields_that_it_sets(playground: Playground) -> None:
    playground.page.click("#editor .cm-line:has-text('numNodes: 4')")
    playground.page.wait_for_selector("#output .cm-marked")
    marked = [line.strip() for line in playground.page.locator("#output .cm-marked").all_inner_texts()]
    assert marked == ["completions: 4", "parallelism: 4", 'value: "4"']
    assert "Line 11 sets spec.replicatedJobs[node].template.spec.comp" in playground.page.inner_text("#explanation")
    playground.page.keyboard.type(" ")
    playground.page.wait_for_selector("#explanation:has-text('Click a line')")


def test_a_line_of_a_built_in_runtime_is_shown(playground: Playground) -> None:
    playground.write(JOB)
    playground.page.click("#output .cm-line:has-text('image: pytorch')")
    playground.page.wait_for_selector("#explanation code:has-text('image: pytorch/pytorch:')")
    assert "<built-in>/torch-distributed.yaml" in playground.page.inner_text("#explanation")


def test_the_second_of_two_documents_is_explained(playground: Playground) -> None:
    playground.write(f"{JOB}---\n{JOB.replace('name: a', 'name: b').replace('2', '3')}")
    playground.page.click("#output .cm-line:has-text('parallelism: 3')")
    playground.page.wait_for_selector("#editor .cm-marked")
    assert playground.page.locator("#editor .cm-marked").all_inner_texts() == ["    numNodes: 3"]


def test_pods_and_graph(playground: Playground) -> None:
    assert "PET_NODE_RANK=0" in playground.select("pods", having="PET_NODE_RANK=0")
    graph = playground.select("graph", having="TrainJob")
    assert "ClusterTrainingRuntime torch-distributed" in graph
    assert "4 pods, 32 GPUs" in graph


def test_a_graph_shows_the_order_of_jobs(playground: Playground) -> None:
    playground.follow("example=fetch-then-train")
    graph = playground.select("graph", having="after model-initializer is Complete")
    assert graph.index("after dataset-initializer is Complete") < graph.index("after model-initializer is Complete")
    assert "created by JobSet" in graph
    rows = [playground.page.locator("#graph .row").nth(row).bounding_box()["y"] for row in range(3)]
    assert rows == sorted(set(rows))


def test_a_review_shows_the_edit(playground: Playground) -> None:
    assert "nothing changes" in playground.select("review", having="nothing changes")
    playground.write(JOB)
    playground.page.click("#base")
    playground.write(JOB.replace("numNodes: 2", "numNodes: 3"))
    playground.page.wait_for_selector("#summary:text-is('1 to change')")
    playground.page.frame_locator("#page").locator("body:has-text('spec.trainer.numNodes')").wait_for()


def test_a_legacy_job_is_migrated(playground: Playground) -> None:
    playground.follow("example=legacy-pytorchjob-folded")
    assert "kind: PyTorchJob" in playground.page.inner_text("#editor")
    assert "kind: TrainJob" in playground.select("migrate", having="kind: TrainJob")


def test_a_job_beside_a_legacy_job(playground: Playground) -> None:
    legacy = (ROOT / "golden" / "legacy-pytorchjob-folded" / "input.yaml").read_text()
    playground.write(f"{JOB}---\n{legacy}")
    assert "1 PyTorchJob not compiled" in playground.page.inner_text("#diagnostics")
    before = playground.page.get_attribute("body", "data-compiled")
    playground.page.check("#legacy")
    playground.compiled(before)
    assert "not compiled" not in playground.page.inner_text("#diagnostics")
    assert "name: mnist" in playground.page.inner_text("#output")


def test_a_jobset_of_the_manifest_is_shown_as_stored(playground: Playground) -> None:
    playground.follow("example=jobset-torchrun")
    playground.page.wait_for_selector("#output .cm-line:has-text('startupPolicyOrder: AnyOrder')")
    playground.page.click("#output .cm-line:has-text('startupPolicyOrder')")
    playground.page.wait_for_selector("#explanation:has-text('is set by a default of JobSet')")


def test_a_link_holds_the_text(playground: Playground) -> None:
    playground.write(f"# é\n{JOB}")
    playground.page.click("#share")
    playground.page.wait_for_function("() => location.hash.startsWith('#text=')")
    link = playground.page.url.partition("#")[2]
    playground.follow("example=cpu-ranks")
    playground.follow(link)
    assert playground.page.inner_text("#editor .cm-content").splitlines()[:2] == ["# é", JOB.splitlines()[0]]
    assert "parallelism: 2" in playground.page.inner_text("#output")


def link(text: bytes) -> str:
    """Return the fragment of an address that holds a text."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(text) + packer.flush()
    return f"text={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


@pytest.mark.parametrize(
    "fragment",
    [
        "text=AAAA",
        "text=%00",
        "example=nothing",
        "example=constructor",
        pytest.param(link(b"null"), id="null"),
        pytest.param(link(b'{"text": 1}'), id="a number"),
        pytest.param(link(b'{"text": "a", "settings": {}}'), id="no settings"),
        pytest.param(link(b'"' + b"a" * 100_000_000 + b'"'), id="100 MB"),
    ],
)
def test_a_broken_link_loads_the_default_example(playground: Playground, fragment: str) -> None:
    playground.write(JOB)
    playground.follow(fragment)
    assert "The link is broken" in playground.page.inner_text("#broken")
    assert "llama-finetune" in playground.page.inner_text("#editor")


def test_the_text_of_a_manifest_is_never_html(playground: Playground) -> None:
    playground.write(HOSTILE)
    for tab in TABS:
        playground.select(tab)
    playground.write(HOSTILE.partition("---")[0].replace(f"image: '{ATTACK}'", "image: a.example/b:1"))
    for tab in TABS:
        playground.select(tab)
    assert ATTACK in playground.page.inner_text("#jobset") + playground.select("pods")
    assert playground.page.evaluate("window.ran") is None
    assert playground.page.locator("body img").count() == 0


def test_the_settings_and_the_release(playground: Playground) -> None:
    playground.write(JOB)
    before = playground.page.get_attribute("body", "data-compiled")
    playground.page.click("summary:has-text('trainc.yaml')")
    playground.page.fill("#settings", "environments: {prod: {namespace: ml}, dev: {namespace: test}}\n")
    before = playground.compiled(before)
    assert "namespace: ml" in playground.page.inner_text("#output")
    playground.page.select_option("#environment", "dev")
    before = playground.compiled(before)
    assert "namespace: test" in playground.page.inner_text("#output")
    playground.page.fill("#settings", "lnt: {}\n")
    before = playground.compiled(before)
    playground.page.click("#diagnostics .error button:has-text('Show line 1')")
    assert playground.page.evaluate("getSelection().toString()") == "lnt"
    playground.page.click("#diagnostics .fix")
    before = playground.compiled(before)
    assert playground.page.input_value("#settings") == "lint: {}\n"
    for wrong in ("namespace: [\n", "[" * 5000, "environments: {1: a}\n"):
        playground.page.fill("#settings", wrong)
        before = playground.compiled(before)
        assert " trainc.yaml:" in playground.page.inner_text("#diagnostics .error >> nth=0")
    for settings, release, image in (
        ("", "", "pytorch:2.13.0-"),
        ("trainerVersion: '2.1'\n", "", "pytorch:2.7.1-"),
        ("", "2.1", "pytorch:2.7.1-"),
    ):
        playground.page.fill("#settings", settings)
        before = playground.compiled(before)
        if release:
            playground.page.select_option("#release", release)
            before = playground.compiled(before)
        assert image in playground.page.inner_text("#output")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BOMB, id="a YAML bomb"),
        pytest.param("- [" * 2000, id="deep nesting"),
        pytest.param("[" * 100_000, id="deeper nesting"),
        pytest.param("\n".join(f"{' ' * level}a:" for level in range(1500)), id="deep indentation"),
    ],
)
def test_bad_input_is_reported(playground: Playground, text: str) -> None:
    playground.write(JOB + "---\n" + text)
    assert playground.page.locator("#diagnostics .error").count() >= 1
    playground.write(JOB)
    assert playground.page.locator("#diagnostics .error").count() == 0
    assert "parallelism: 2" in playground.page.inner_text("#output")


def test_a_manifest_of_five_megabytes_is_not_compiled(playground: Playground) -> None:
    playground.paste("# a comment\n" * 420_000)
    playground.page.wait_for_selector("#diagnostics .error:has-text('more than 5 MB')")
    playground.write(JOB)
    assert "parallelism: 2" in playground.page.inner_text("#output")


def test_a_worker_that_takes_too_long_is_restarted(browser: Any, address: str) -> None:
    page = browser.new_page(service_workers="block")
    workers = []

    def slow_at_first(route: Any) -> None:
        workers.append(route)
        slow = "postMessage({ready: true}); onmessage = () => { for (;;); };"
        route.fulfill(body=slow, content_type="text/javascript") if len(workers) == 1 else route.continue_()

    page.route("**/worker.js", slow_at_first)
    page.goto(f"{address}playground/")
    page.wait_for_selector("#diagnostics .error:has-text('trainc was restarted')", timeout=60_000)
    page.wait_for_selector("#state:text-is('Ready')", timeout=60_000)
    page.click("#editor .cm-line:has-text('numNodes: 4')")
    page.keyboard.press("End")
    page.keyboard.type("0")
    page.wait_for_selector("#output .cm-line:has-text('parallelism: 40')")
    assert page.locator("#diagnostics .error").count() == 0
    page.close()


def test_the_recorded_output_is_there_before_python(browser: Any, address: str) -> None:
    page = browser.new_page(service_workers="block")
    page.route("**/app.zip", lambda route: None)
    page.goto(f"{address}playground/", wait_until="commit")
    page.wait_for_selector("#output .cm-line:has-text('kind: JobSet')")
    page.wait_for_selector("#state:has-text('Loading')")
    assert page.is_visible("#progress")
    page.close()


def test_offline_after_the_first_visit(browser: Any, address: str) -> None:
    context = browser.new_context()
    first = Playground(context.new_page(), address)
    first.page.close()
    context.set_offline(True)
    offline = Playground(context.new_page(), address, "#example=cpu-ranks")
    offline.write(JOB)
    assert "parallelism: 2" in offline.page.inner_text("#output")
    for each in (first, offline):
        each.sent_nothing_and_had_no_fault()
    context.close()


def test_a_new_version_replaces_the_old_one_and_works_offline(browser: Any, tmp_path: Path) -> None:
    shutil.copytree(SITE / "playground", tmp_path / "playground")
    with served(tmp_path) as address:
        context = browser.new_context()
        Playground(context.new_page(), address).page.close()
        for name, old, new in (
            ("index.html", "<title>Playground", "<title>New"),
            ("sw.js", 'CACHE = "playground-', 'CACHE = "playground-2'),
        ):
            file = tmp_path / "playground" / name
            file.write_text(file.read_text().replace(old, new))
        second = Playground(context.new_page(), address)
        assert second.page.title() == "Playground - trainc"
        second.page.wait_for_function("navigator.serviceWorker.getRegistration().then(found => found.waiting)")
        second.page.close()
        context.set_offline(True)
        third = Playground(context.new_page(), address)
        assert third.page.title() == "New - trainc"
        assert len(third.page.evaluate("caches.keys()")) == 1
        third.write(JOB)
        assert "parallelism: 2" in third.page.inner_text("#output")
        third.sent_nothing_and_had_no_fault()
        context.close()


def test_without_webassembly_a_sentence(browser: Any, address: str) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto(f"{address}playground/")
    page.wait_for_selector("#state:has-text('has no WebAssembly')")
    page.wait_for_selector("#output .cm-line:has-text('kind: JobSet')")
    assert faults == []
    page.close()


def test_by_keyboard(playground: Playground) -> None:
    playground.page.focus("#tab-jobset")
    for tab in (*TABS[1:], TABS[0]):
        playground.page.keyboard.press("ArrowRight")
        assert playground.page.is_visible(f"#{tab}")
        assert playground.page.evaluate("document.activeElement.id") == f"tab-{tab}"
    playground.page.focus("#editor .cm-content")
    playground.page.keyboard.press("Tab")
    assert playground.page.evaluate("document.activeElement.tagName") == "SUMMARY"
    playground.page.focus("#output .cm-content")
    playground.page.keyboard.press("Enter")
    playground.page.wait_for_selector("#output .cm-marked")
    playground.page.focus("#editor .cm-content")
    playground.page.keyboard.press("Control+Home")
    for _ in range(10):
        playground.page.keyboard.press("ArrowDown")
    playground.page.keyboard.press("Control+Enter")
    playground.page.wait_for_selector("#output .cm-marked:has-text('parallelism: 4')")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits(playground: Playground, width: int, scheme: str) -> None:
    playground.page.emulate_media(color_scheme=scheme)
    playground.page.set_viewport_size({"width": width, "height": 900})
    ground = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}[scheme]
    assert playground.page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
    for tab in TABS:
        playground.select(tab)
        assert playground.page.evaluate("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("TRAINC_PICTURES"):
            playground.page.screenshot(path=Path(folder) / f"playground-{tab}-{scheme}-{width}.png")
