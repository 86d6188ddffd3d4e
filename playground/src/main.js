import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, lintGutter } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const TIMEOUT = 10_000; // milliseconds, after which the worker is restarted
const DELAY = 150; // milliseconds without a key before a compilation
const LARGEST = 5_000_000; // characters of a manifest
const DEFAULT = "llm-finetune-4x8";
const $ = (id) => document.getElementById(id);

// Create an element; strings become text, never HTML.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    typeof value === "function" ? made.addEventListener(key, value) : made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// ---- Editors

const mark = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(value, change) {
    for (const effect of change.effects) if (effect.is(mark)) return effect.value;
    return value.map(change.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});
const colors = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "light-dark(#0550ae, #8ab4f8)" },
  { tag: tags.string, color: "light-dark(#116329, #8ddb8c)" },
  { tag: tags.comment, color: "light-dark(#59636e, #9198a1)" },
  { tag: tags.number, color: "light-dark(#953800, #f0a868)" },
]);
const look = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "inherit" },
  ".cm-gutters": { backgroundColor: "transparent", color: "light-dark(#59636e, #9198a1)", border: "none" },
  ".cm-content": { caretColor: "light-dark(#000, #fff)" },
  ".cm-activeLine": { backgroundColor: "light-dark(#0000000a, #ffffff0f)" },
});
const common = [lineNumbers(), yaml(), syntaxHighlighting(colors), look, marked, drawSelection(), keymap.of(searchKeymap)];

const editor = new EditorView({
  parent: $("editor"),
  extensions: [
    common,
    history(),
    bracketMatching(),
    highlightActiveLine(),
    lintGutter(),
    indentUnit.of("  "),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Manifest" }),
    EditorView.updateListener.of((update) => update.docChanged && later()),
    EditorView.domEventHandlers({ click: () => void explainInput() }),
  ],
});
const output = new EditorView({
  parent: $("output"),
  extensions: [
    common,
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": "JobSet", tabindex: "0" }),
    keymap.of([{ key: "Enter", run: () => (explainOutput(), true) }]),
    EditorView.domEventHandlers({ click: () => void explainOutput() }),
  ],
});

function setText(view, text) {
  if (view.state.doc.toString() !== text)
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
function markLines(view, lines) {
  const known = [...new Set(lines)].filter((line) => line >= 1 && line <= view.state.doc.lines).sort((a, b) => a - b);
  const at = known.map((line) => view.state.doc.line(line).from);
  const ranges = at.map((from) => Decoration.line({ class: "cm-marked" }).range(from));
  view.dispatch({ effects: mark.of(Decoration.set(ranges)) });
  if (at.length) view.dispatch({ effects: EditorView.scrollIntoView(at[0], { y: "center" }) });
}
const offset = (line, character) => {
  const { doc } = editor.state;
  const at = doc.line(Math.min(line + 1, doc.lines));
  return Math.min(at.from + character, at.to);
};

// ---- The worker

let worker, waiting, last, isReady, clock;
function start() {
  worker = new Worker("worker.js", { type: "module" });
  waiting = new Map();
  last = 0;
  isReady = false;
  worker.onmessage = ({ data }) => {
    if (data.loaded !== undefined) {
      $("progress").max = data.total;
      $("progress").value = data.loaded;
      say(`Loading ${data.what}: ${(data.loaded / 1e6).toFixed(1)} of ${(data.total / 1e6).toFixed(1)} MB`);
    } else if (data.ready) {
      isReady = true;
      $("progress").hidden = true;
      say("Ready");
      watch();
    } else if (data.failed) {
      say(`Python could not be loaded: ${data.failed}`);
    } else {
      const done = waiting.get(data.id);
      waiting.delete(data.id);
      watch();
      done({ ...data.value, milliseconds: data.milliseconds });
    }
  };
}
// Restart the worker if it does not answer in time. Loading has no limit: it depends on the network.
function watch() {
  clearTimeout(clock);
  if (isReady && waiting.size) clock = setTimeout(restart, TIMEOUT);
}
function restart() {
  worker.terminate();
  const stopped = [...waiting.values()];
  start();
  showFault("trainc was restarted, because a run took more than 10 seconds: edit the manifest to run it again");
  for (const done of stopped) done({ stopped: true });
}
function ask(request) {
  return new Promise((done) => {
    const id = ++last;
    waiting.set(id, done);
    if (waiting.size === 1) watch();
    worker.postMessage({ id, request });
  });
}
const say = (text) => ($("state").textContent = text);

// ---- Views

let base = "";
let selected = "jobset";
let latest = 0;
let timer;
let shown = null;
const options = () => ({ settings: $("settings").value, release: $("release").value, legacy: $("legacy").checked });
const later = () => (clearTimeout(timer), (timer = setTimeout(run, DELAY)));

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

async function run() {
  if (!worker) return;
  const text = editor.state.doc.toString();
  const number = ++latest;
  if (text.length > LARGEST) return showFault("the manifest has more than 5 MB: use the command line");
  const found = await ask({ method: "compile", text, ...options() });
  if (number !== latest || found.stopped) return;
  document.body.dataset.compiled = number;
  if (found.error) return showFault(found.error);
  shown = found;
  setText(output, found.output);
  markLines(output, []);
  showDiagnostics(found.diagnostics);
  showPods(found.pods);
  showGraph(found.graph);
  const errors = found.diagnostics.filter((each) => each.severity === "error").length;
  const others = found.diagnostics.length - errors;
  say(`${counted(errors, "error")}, ${counted(others, "other finding")}, ${found.milliseconds.toFixed(0)} ms`);
  await showSelected();
}

// Show a fault of the run itself, in place of its diagnostics.
function showFault(text) {
  shown = null;
  editor.dispatch(setDiagnostics(editor.state, []));
  $("diagnostics").replaceChildren(element("li", { class: "error" }, element("b", {}, "error"), ` ${text}`));
  say("Not compiled");
}
function showDiagnostics(found) {
  const inEditor = found.filter((each) => each.range);
  const shownIn = inEditor.map(({ range: [line, from, endLine, to], severity, message, help }) => {
    const begin = offset(line, from);
    const end = Math.max(begin, offset(endLine, to));
    const kind = { error: "error", warning: "warning" }[severity] ?? "info";
    return { from: begin, to: end, severity: kind, message: help ? `${message}\n${help}` : message };
  });
  editor.dispatch(setDiagnostics(editor.state, shownIn));
  $("diagnostics").replaceChildren(
    ...found.map((each) => {
      const item = element("li", { class: each.severity });
      const link = element("a", { href: `../diagnostics/${each.id}/`, target: "_blank", rel: "noopener" }, each.id);
      item.append(element("b", {}, each.severity), " ", link, ` ${each.at}: ${each.message}`);
      if (each.help) item.append(element("div", { class: "help" }, `help: ${each.help}`));
      if (each.range) {
        const go = () => {
          editor.dispatch({ selection: { anchor: offset(each.range[0], each.range[1]) }, scrollIntoView: true });
          editor.focus();
        };
        item.append(element("button", { type: "button", click: go }, "Show"));
      }
      if (each.fix) item.append(" ", element("button", { type: "button", class: "fix", click: () => fix(each) }, `Fix: ${each.fix.title}`));
      return item;
    }),
  );
}
function fix({ fix: { edits } }) {
  const changes = edits.map(({ range: [line, from, endLine, to], text }) => ({
    from: offset(line, from),
    to: offset(endLine, to),
    insert: text,
  }));
  editor.dispatch({ changes });
}

const words = (value) => (value === null ? "(set in the cluster)" : typeof value === "string" ? value : JSON.stringify(value));
function showPods(pods) {
  $("pods").replaceChildren(
    ...pods.slice(0, 100).map((pod) => {
      const details = element("details", {}, element("summary", {}, `${pod.namespace}/${pod.name}`));
      details.addEventListener("toggle", () => {
        if (details.childElementCount > 1) return;
        for (const each of [...(pod.initContainers ?? []), ...pod.containers]) {
          const command = [...(each.command ?? []), ...(each.args ?? [])].map(words).join(" ");
          const variables = Object.entries(each.env ?? {}).map(([name, value]) => `${name}=${words(value)}`);
          details.append(element("pre", {}, [`${each.name}: ${each.image}`, command, ...variables].filter(Boolean).join("\n")));
        }
      });
      return details;
    }),
    ...(pods.length > 100 ? [element("p", {}, `${pods.length - 100} more pods`)] : []),
    ...(pods.length ? [] : [element("p", {}, "No pods: the manifest has an error, or no job.")]),
  );
  $("pods").querySelector("details")?.setAttribute("open", "");
}

const amounts = (found) => Object.entries(found).map(([name, value]) => `${name}=${value}`).join(", ");
const node = (title, ...lines) =>
  element("div", { class: "node" }, element("strong", {}, title), ...lines.filter(Boolean).map((line) => element("small", {}, line)));
function showGraph(jobs) {
  const arrow = () => element("div", { class: "arrow", "aria-hidden": "true" }, "↓");
  $("graph").replaceChildren(
    ...jobs.flatMap((job) => [
      ...(job.runtime ? [node(`${job.runtime.kind} ${job.runtime.name}`, job.framework, job.runtime_file), arrow()] : []),
      node(`${job.word} ${job.name}`, `${job.total.pods} pods, ${job.total.gpus} GPUs`, amounts(job.total.resources),
        job.queue && `queue ${job.queue}`, job.endpoint && `rendezvous ${job.endpoint}`),
      arrow(),
      element("div", { class: "row" }, ...job.steps.map(({ job: step, after }) =>
        node(step.name, `${step.pods} pods`, amounts(step.requests), after.length ? `after ${after.map((each) => each.name ?? each).join(", ")}` : ""))),
      ...(job.needed.length ? [element("p", {}, "Needs:"), element("div", { class: "row" }, ...job.needed.map((each) => node(`${each.kind} ${each.name}`, each.origin)))] : []),
      element("hr"),
    ]),
    ...(jobs.length ? [] : [element("p", {}, "No graph: the manifest has an error, or no job.")]),
  );
}

async function showSelected() {
  const text = editor.state.doc.toString();
  if (selected === "review") {
    const found = await ask({ method: "review", before: base, after: text, ...options() });
    if (found.stopped) return;
    // The review is complete without its script, which the sandbox of the frame blocks.
    const page = new DOMParser().parseFromString(found.html ?? "", "text/html");
    for (const script of page.querySelectorAll("script")) script.remove();
    $("summary").textContent = found.error ?? found.summary;
    $("page").srcdoc = page.documentElement.outerHTML;
  } else if (selected === "migrate") {
    const found = await ask({ method: "migrate", text, ...options() });
    if (found.stopped) return;
    const lines = (found.diagnostics ?? []).map((each) => element("p", { class: each.severity }, `${each.severity} ${each.id}: ${each.message}`));
    const documents = found.documents ?? [];
    $("migrate").replaceChildren(
      ...(documents.length ? [element("pre", {}, documents.join("---\n"))] : [element("p", {}, found.error ?? "No legacy job: try the example legacy-pytorchjob-folded.")]),
      ...lines,
    );
  }
}
function select(name, focus) {
  selected = name;
  for (const tab of $("tabs").children) {
    const own = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", own);
    tab.tabIndex = own ? 0 : -1;
    if (own && focus) tab.focus();
    $(tab.id.slice(4)).hidden = !own;
  }
  if (shown) void showSelected();
}

async function explainOutput() {
  if (!shown) return;
  const line = output.state.doc.lineAt(output.state.selection.main.head).number;
  const found = await ask({ method: "origin", line: line - 1 });
  if (!found.by) return;
  const here = found.file === "job.yaml";
  $("explanation").textContent = `${found.field}: ${found.by}, ${found.file}:${found.line}`;
  markLines(output, [line]);
  markLines(editor, here ? [found.line] : []);
}
async function explainInput() {
  if (!shown) return;
  const { head } = editor.state.selection.main;
  const line = editor.state.doc.lineAt(head);
  const column = [...line.text.slice(0, head - line.from)].length + 1;
  const found = await ask({ method: "fields", line: line.number, column });
  if (!found.fields) return;
  const lines = found.fields.filter((each) => each.line !== null);
  $("explanation").textContent = lines.length ? `Line ${line.number} sets ${lines.length} fields of the output` : `Line ${line.number} sets no field of the output`;
  markLines(editor, [line.number]);
  markLines(output, lines.map((each) => each.line + 1));
}

// ---- Examples and links

const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
async function packed(text) {
  const bytes = await bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  return new TextDecoder().decode(await bytesOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))));
}
let examples = {};
const HINT = $("explanation").textContent;
function load({ text, settings = "", release = "", legacy = false }, recorded = "") {
  $("settings").value = settings;
  $("release").value = release;
  $("legacy").checked = legacy;
  base = text;
  $("explanation").textContent = HINT;
  setText(editor, text);
  markLines(editor, []);
  if (recorded) setText(output, recorded);
  later();
}
function loadExample(name) {
  $("example").value = name;
  const { input, settings, output: recorded, legacy, release } = examples[name];
  load({ text: input, settings, legacy, release }, recorded);
}
async function loadAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  try {
    if (given.has("text")) return load(JSON.parse(await unpacked(given.get("text"))));
    const name = given.get("example") ?? DEFAULT;
    if (!Object.hasOwn(examples, name)) throw new Error(`no example has the name ${name}`);
    loadExample(name);
  } catch (error) {
    loadExample(DEFAULT);
    $("explanation").textContent = `The link is broken (${error.message}): this is the default example`;
  }
}

// Wait for the service worker, which stores what Python needs. A private window may have none.
async function controlled() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return;
  const claimed = new Promise((done) => serviceWorker.addEventListener("controllerchange", done, { once: true }));
  const registered = await serviceWorker.register("sw.js").catch(() => null);
  if (registered && !serviceWorker.controller) await Promise.race([claimed, new Promise((done) => setTimeout(done, 2000))]);
}

const about = await (await fetch("examples.json")).json();
examples = about.examples;
$("example").append(...Object.keys(examples).map((name) => element("option", { value: name }, name)));
$("release").append(...["", ...about.releases].map((name) => element("option", { value: name }, name || "default")));
$("example").addEventListener("change", () => (location.hash = `example=${$("example").value}`));
for (const id of ["settings", "release", "legacy"]) $(id).addEventListener("input", later);
$("base").addEventListener("click", () => ((base = editor.state.doc.toString()), void showSelected()));
$("share").addEventListener("click", async () => {
  const text = await packed(JSON.stringify({ text: editor.state.doc.toString(), ...options() }));
  window.history.replaceState(null, "", `#text=${text}`);
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say("The address of this page now has the text");
});
for (const tab of $("tabs").children) tab.addEventListener("click", () => select(tab.id.slice(4)));
$("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...$("tabs").children];
  const at = tabs.findIndex((tab) => tab.id === `tab-${selected}`);
  select(tabs[(at + step + tabs.length) % tabs.length].id.slice(4), true);
});

addEventListener("hashchange", () => void loadAddress());
select("jobset");
await loadAddress();
if (typeof WebAssembly === "undefined") {
  say("This browser has no WebAssembly, which Python needs: use the command line");
} else {
  await controlled();
  start();
  later();
}
