import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, lintGutter } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const TIMEOUT = 10_000; // milliseconds, after which the worker is restarted
const DELAY = 150; // milliseconds without a key before a compilation
const LARGEST = 5_000_000; // characters of a manifest
const NAMED = 3; // fields that a sentence names
const NOTHING = "No output: the manifest has an error, or no job.";
const DEFAULT = "llm-finetune-4x8";
const $ = (id) => document.getElementById(id);
const HINT = $("explanation").textContent;
$("none").textContent = NOTHING;

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
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "light-dark(#59636e, #9198a1)", border: "none" },
  "& .cm-cursor": { borderLeftColor: "light-dark(#000, #fff)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, & .cm-selectionBackground": {
    backgroundColor: "light-dark(#cfe0fa, #2f4a73)",
  },
  ".cm-activeLine": { backgroundColor: "light-dark(#0000000a, #ffffff0f)" },
});
const cursorBlinkRate = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1200;
// The highlighter calls itself for each level: a text with thousands of them would end the script. It gets no colors.
const DEEP = /(?:(?:[-?]\s|[[{])\s*){300}|^ {600}/m;
const language = new Compartment();
const languageOf = (doc) => (DEEP.test(doc.toString()) ? [] : yaml());
const shallow = EditorState.transactionFilter.of((change) => {
  if (!change.docChanged) return change;
  const hasColors = language.get(change.startState).length !== 0;
  const found = languageOf(change.newDoc);
  return hasColors === (found.length !== 0) ? change : [change, { effects: language.reconfigure(found) }];
});
const common = [
  lineNumbers(),
  language.of(yaml()),
  shallow,
  syntaxHighlighting(colors),
  look,
  marked,
  drawSelection({ cursorBlinkRate }),
  keymap.of(searchKeymap),
];

const editor = new EditorView({
  parent: $("editor"),
  extensions: [
    common,
    history(),
    bracketMatching(),
    highlightActiveLine(),
    lintGutter(),
    indentUnit.of("  "),
    keymap.of([{ key: "Mod-Enter", run: () => (explainInput(), true) }, ...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Manifest", "aria-describedby": "explanation" }),
    // The mark at the start of some files would shift the columns of its line.
    EditorView.clipboardInputFilter.of((text) => text.replace(/^\ufeff/, "")),
    EditorView.updateListener.of((update) => update.docChanged && later()),
    EditorView.domEventHandlers({ click: () => void explainInput() }),
  ],
});
const output = new EditorView({
  parent: $("output"),
  extensions: [
    common,
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": "JobSet", inputmode: "none" }),
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
  // Only this editor scrolls: on a phone, EditorView.scrollIntoView would move the page away from the line of the click.
  if (at.length && !view.hasFocus) view.scrollDOM.scrollTop = view.lineBlockAt(at[0]).top - view.scrollDOM.clientHeight / 2;
}
const offset = (line, character, doc = editor.state.doc) => {
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
      const sizes = `${(data.loaded / 1e6).toFixed(1)} of ${(data.total / 1e6).toFixed(1)} MB`;
      say(data.loaded < data.total ? `Loading ${data.what}: ${sizes}` : "Starting Python");
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
let timer;
let shown = null;
let isRunning = false;
let isEdited = false;
const options = () => ({
  settings: $("settings").value,
  environment: $("environment").value,
  release: $("release").value,
  legacy: $("legacy").checked,
});
const later = () => (clearTimeout(timer), (timer = setTimeout(run, DELAY)));

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// Compile the text. What is typed meanwhile is compiled afterwards, once.
async function run() {
  if (!worker) return;
  isEdited = true;
  if (isRunning) return;
  isRunning = true;
  try {
    while (isEdited) {
      isEdited = false;
      await compile();
    }
  } finally {
    isRunning = false;
  }
}
async function compile() {
  const text = editor.state.doc.toString();
  const given = options();
  if (text.length + given.settings.length > LARGEST) return showFault("the manifest has more than 5 MB: use the command line");
  const found = await ask({ method: "compile", text, ...given });
  if (found.stopped) return;
  document.body.dataset.compiled = Number(document.body.dataset.compiled ?? 0) + 1;
  if (found.error) return showFault(found.error);
  const isNew = shown?.output !== found.output || shown.text !== text;
  shown = { ...found, text, settings: given.settings };
  setText(output, found.output);
  if (isNew) {
    markLines(output, []);
    markLines(editor, []);
    $("explanation").textContent = HINT;
  }
  $("none").hidden = Boolean(found.output);
  for (const id of ["explanation", "output"]) $(id).hidden = !found.output;
  showEnvironments(found);
  showDiagnostics(found);
  const { error, warning, note } = found.counts;
  const counts = [counted(error, "error"), counted(warning, "warning"), ...(note ? [counted(note, "note")] : [])];
  say(`${counts.join(", ")} (${found.milliseconds.toFixed(0)} ms)`);
  await showSelected();
}

// Show a fault of the run itself, in place of its diagnostics.
function showFault(text) {
  shown = null;
  editor.dispatch(setDiagnostics(editor.state, []));
  $("diagnostics").replaceChildren(element("li", { class: "error" }, element("b", {}, "error"), ` ${text}`));
  say("Not compiled");
}
function showEnvironments({ environments, environment }) {
  $("environments").hidden = !environments.length;
  if (!environments.length) return;
  $("environment").replaceChildren(...environments.map((name) => element("option", { value: name }, name)));
  $("environment").value = environment;
}
function showDiagnostics({ diagnostics, counts, omitted }) {
  const inEditor = diagnostics.filter((each) => each.range && each.file === "job.yaml");
  const marks = inEditor.map(({ range: [line, from, endLine, to], severity, message, help }) => {
    const begin = offset(line, from);
    const end = Math.max(begin, offset(endLine, to));
    const kind = { error: "error", warning: "warning" }[severity] ?? "info";
    return { from: begin, to: end, severity: kind, message: help ? `${message}\n${help}` : message };
  });
  editor.dispatch(setDiagnostics(editor.state, marks));
  const more = counts.error + counts.warning + counts.note - diagnostics.length;
  $("diagnostics").replaceChildren(
    ...diagnostics.map((each) => {
      const item = element("li", { class: each.severity }, ...described(each));
      if (each.range) item.append(element("button", { type: "button", click: () => goTo(each) }, `Show line ${each.range[0] + 1}`), " ");
      if (each.fix) item.append(element("button", { type: "button", class: "fix", click: () => fix(each) }, `Fix: ${each.fix.title}`));
      return item;
    }),
    ...(more > 0 ? [element("li", {}, `and ${more} more`)] : []),
    ...Object.entries(omitted).map(([kind, number]) => element("li", {}, `${counted(number, kind)} not compiled${hint(kind)}`)),
  );
}
const hint = (kind) => (/.Job$/.test(kind) && !$("legacy").checked ? ": the box “legacy jobs” compiles legacy kinds" : "");
function described({ severity, id, at, message, help }) {
  const link = element("a", { href: `../diagnostics/${id}/`, target: "_blank", rel: "noopener" }, id);
  const place = at ? ` ${at}` : "";
  return [element("b", {}, severity), " ", link, `${place}: ${message}`, ...(help ? [element("div", { class: "help" }, `help: ${help}`)] : [])];
}
const rangeOf = ([line, from, endLine, to], doc) => [offset(line, from, doc), offset(endLine, to, doc)];
function goTo({ file, range }) {
  if (file === "job.yaml") {
    editor.dispatch({ selection: { anchor: rangeOf(range)[0] }, scrollIntoView: true });
    return editor.focus();
  }
  const settings = $("settings");
  settings.parentElement.open = true;
  settings.setSelectionRange(...rangeOf(range, EditorState.create({ doc: settings.value }).doc));
  settings.focus();
}
// Apply a fix to the text for which it is; a later text gets its own.
function fix({ fix: { edits } }) {
  const settings = $("settings");
  if (editor.state.doc.toString() !== shown?.text || settings.value !== shown.settings) return;
  const changed = (file, doc) =>
    edits.filter((each) => each.file === file).map(({ range, text }) => {
      const [from, to] = rangeOf(range, doc);
      return { from, to, insert: text };
    });
  editor.dispatch({ changes: changed("job.yaml", editor.state.doc) });
  const state = EditorState.create({ doc: settings.value });
  settings.value = state.update({ changes: changed("trainc.yaml", state.doc) }).state.doc.toString();
  later();
}

const words = (value) => (value === null ? "(set in the cluster)" : typeof value === "string" ? value : JSON.stringify(value));
function showPods({ found, more }) {
  $("pods").replaceChildren(
    ...found.map((pod) => {
      const details = element("details", {}, element("summary", {}, `${pod.namespace}/${pod.name}`));
      details.addEventListener("toggle", () => {
        if (details.childElementCount > 1) return;
        for (const each of [...(pod.initContainers ?? []), ...pod.containers]) {
          const command = [...(each.command ?? []), ...(each.args ?? [])].map(words).join(" ");
          const variables = Object.entries(each.env ?? {}).map(([name, value]) => `${name}=${words(value)}`);
          details.append(element("pre", { tabindex: "0" }, [`${each.name}: ${each.image}`, command, ...variables].filter(Boolean).join("\n")));
        }
      });
      return details;
    }),
    ...(more ? [element("p", {}, `and ${counted(more, "pod")} more`)] : []),
    ...(found.length ? [] : [element("p", {}, NOTHING)]),
  );
  $("pods").querySelector("details")?.setAttribute("open", "");
}

const amounts = (found) => Object.entries(found).map(([name, value]) => `${name}=${value}`).join(", ");
const node = (title, ...lines) =>
  element("div", { class: "node" }, element("strong", {}, title), ...lines.filter(Boolean).map((line) => element("small", {}, line)));
const MADE = { compiled: "compiled", claimed: "created by JobSet", given: "in the manifest" };
const needs = ({ origin, optional }) => MADE[origin] ?? (optional ? "may be missing" : "must exist in the cluster");
// Return replicated jobs by row: a job waits only for jobs of the rows above, which are before it in the JobSet.
function rowsOf(steps) {
  const rowOf = new Map();
  for (const { job, after } of steps) rowOf.set(job.name, Math.max(-1, ...after.map((each) => rowOf.get(each.job) ?? -1)) + 1);
  return Object.values(Object.groupBy(steps, (step) => rowOf.get(step.job.name)));
}
function showGraph({ found, more }) {
  const arrow = () => element("div", { class: "arrow", "aria-hidden": "true" }, "↓");
  const row = (nodes) => element("div", { class: "row" }, ...nodes);
  const step = ({ job, after }) =>
    node(job.name, counted(job.pods, "pod"), amounts(job.requests) + (job.pods > 1 && amounts(job.requests) ? " each" : ""),
      after.length ? `after ${after.map((each) => `${each.job} is ${each.status}`).join(" and ")}` : "");
  $("graph").replaceChildren(
    ...found.flatMap((job) => [
      ...(job.runtime ? [node(`${job.runtime.kind} ${job.runtime.name}`, job.framework, job.runtime_file || "built-in"), arrow()] : []),
      node(`${job.word} ${job.name}`, `${counted(job.total.pods, "pod")}, ${counted(job.total.gpus, "GPU")}`, amounts(job.total.resources),
        job.queue && `queue ${job.queue}`, job.endpoint && `rendezvous ${job.endpoint}`,
        ...job.gangs.map((gang) => `${gang.scheduler} PodGroup ${gang.name}: starts with ${counted(gang.members, "pod")}`)),
      ...rowsOf(job.steps).flatMap((steps) => [arrow(), row(steps.map(step))]),
      ...(job.needed.length ? [element("p", {}, "The pods refer to:"), row(job.needed.map((each) => node(`${each.kind} ${each.name}`, needs(each), `for ${each.jobs.join(", ")}`)))] : []),
      element("hr"),
    ]),
    ...(more ? [element("p", {}, `and ${counted(more, "job")} more`)] : []),
    ...(found.length ? [] : [element("p", {}, NOTHING)]),
  );
}

async function showSelected() {
  const text = editor.state.doc.toString();
  if (selected === "pods" || selected === "graph") {
    const found = await ask({ method: selected });
    if (!found.stopped) (selected === "pods" ? showPods : showGraph)(found.error ? { found: [], more: 0 } : found);
  } else if (selected === "review") {
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
    const migrated = (found.documents ?? []).join("---\n");
    $("migrate").replaceChildren(
      ...(migrated
        ? [
            element("p", {}, element("button", { type: "button", click: () => setText(editor, migrated) }, "Replace the manifest with this")),
            element("pre", { tabindex: "0" }, migrated),
          ]
        : [element("p", {}, found.error ?? "No legacy job: try the example legacy-pytorchjob-folded.")]),
      ...(found.diagnostics ?? []).map((each) => element("p", { class: each.severity }, ...described(each))),
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
  const source = found.source ? [" ", element("code", {}, found.source)] : [];
  $("explanation").replaceChildren(`${found.field} is set by ${found.by} (${found.file}:${found.line})`, ...source);
  markLines(output, [line]);
  markLines(editor, here ? [found.line] : []);
}
async function explainInput() {
  if (!shown) return;
  const { head } = editor.state.selection.main;
  const line = editor.state.doc.lineAt(head);
  // The field that starts the line or, in JSON on one line, the one at the cursor.
  const columns = [line.text.search(/\S/), [...line.text.slice(0, head - line.from)].length];
  const found = await ask({ method: "fields", line: line.number, columns: columns.map((each) => each + 1) });
  if (!found.fields) return;
  const names = found.fields.slice(0, NAMED).map((each) => each.field);
  const more = found.fields.length - names.length;
  const list = names.join(", ") + (more ? ` and ${more} more` : "");
  $("explanation").textContent = list ? `Line ${line.number} sets ${list}` : `No field of the output has its value from line ${line.number}`;
  markLines(editor, [line.number]);
  markLines(output, found.fields.map((each) => each.line + 1));
}

// ---- Examples and links

// Read a stream, at most LARGEST bytes: a short link may hold a text that fills the memory.
async function bytesOf(stream) {
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    size += value.length;
    if (size > LARGEST) throw (await reader.cancel(), new Error("its text has more than 5 MB"));
  }
}
async function packed(text) {
  const bytes = await bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")));
  return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  return new TextDecoder().decode(await bytesOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))));
}
let examples = {};
function load({ text, base: before = text, settings = "", environment = "", release = "", legacy = false }, recorded = "") {
  if (![text, before, settings, environment, release].every((each) => typeof each === "string")) throw new Error("it holds no text");
  $("settings").value = settings;
  $("settings").parentElement.open = Boolean(settings);
  $("environment").replaceChildren(element("option", { value: environment }, environment));
  $("release").value = release;
  $("legacy").checked = legacy;
  base = before;
  shown = null;
  $("explanation").textContent = HINT;
  setText(editor, text);
  for (const view of [editor, output]) markLines(view, []);
  setText(output, recorded);
  for (const id of ["explanation", "output"]) $(id).hidden = false;
  $("none").hidden = true;
  later();
}
function loadExample(name) {
  $("example").value = name;
  const { input, output: recorded, ...given } = examples[name];
  load({ text: input, ...given }, recorded);
}
async function loadAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  $("broken").textContent = "";
  try {
    if (given.has("text")) {
      load(JSON.parse(await unpacked(given.get("text"))));
      $("example").selectedIndex = -1;
      return;
    }
    const name = given.get("example") ?? DEFAULT;
    if (!Object.hasOwn(examples, name)) throw new Error(`no example has the name ${name}`);
    loadExample(name);
  } catch (error) {
    loadExample(DEFAULT);
    $("broken").textContent = `The link is broken (${error.message}): this is the default example.`;
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

const about = await fetch("examples.json")
  .then((got) => got.json())
  .catch((error) => {
    say(`The examples could not be loaded (${error.message}): reload the page`);
    throw error;
  });
examples = about.examples;
for (const [label, names] of Object.entries(Object.groupBy(Object.keys(examples), (name) => examples[name].group))) {
  const list = names.map((name) => element("option", { value: name }, examples[name].title));
  $("example").append(element("optgroup", { label }, ...list));
}
$("release").append(...["", ...about.releases].map((name) => element("option", { value: name }, name || "default")));
$("example").addEventListener("change", () => (location.hash = `example=${$("example").value}`));
for (const id of ["settings", "environment", "release", "legacy"]) $(id).addEventListener("input", later);
$("base").addEventListener("click", () => ((base = editor.state.doc.toString()), void showSelected()));
$("share").addEventListener("click", async () => {
  const text = await packed(JSON.stringify({ text: editor.state.doc.toString(), base, ...options() }));
  window.history.replaceState(null, "", `#text=${text}`);
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say("The address of this page now has the text");
});
for (const tab of $("tabs").children) tab.addEventListener("click", () => select(tab.id.slice(4)));
$("tabs").addEventListener("keydown", (event) => {
  const tabs = [...$("tabs").children];
  const at = tabs.findIndex((tab) => tab.id === `tab-${selected}`);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  select(tabs.at(next % tabs.length).id.slice(4), true);
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
