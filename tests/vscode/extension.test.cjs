// The packed extension with the real `trainc lsp`, in Node. EXTENSION is the unpacked folder, TRAINC the program.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { afterEach, beforeEach, test } = require("node:test");
const { editor } = require("./vscode.cjs");

const { EXTENSION, TRAINC } = process.env;
const BUNDLE = path.join(EXTENSION, require(path.join(EXTENSION, "package.json")).main);
const JOB = `\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNode: 2
    resourcesPerNode: {requests: {cpu: 1, memory: 1Gi}}
`;
const SHOWN = ["trainc.showChanges", "trainc.showJobSet", "trainc.showPods"];
const PATH = process.env.PATH;
const load = Module._load;
let folder, job, code, extension;

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "vscode-")));
  job = path.join(folder, "job.yaml");
  fs.writeFileSync(path.join(folder, "trainc.yaml"), "lint: {disable: [no-gang, no-resources, no-shared-memory]}\n");
});

afterEach(async () => {
  await extension.deactivate();
  code.context.subscriptions.forEach((each) => each.dispose());
  fs.rmSync(folder, { recursive: true });
  process.env.PATH = PATH;
});

/** Start the extension in a new process state. */
async function activate(settings, opened = folder) {
  code = editor(opened, settings);
  Module._load = (name, ...rest) => (name === "vscode" ? code.vscode : load(name, ...rest));
  delete require.cache[BUNDLE];
  extension = require(BUNDLE);
  await extension.activate(code.context);
}

function open(text) {
  fs.writeFileSync(job, text);
  code.open(job, text);
}

/** Wait until a value is there. */
async function until(found) {
  for (let tries = 0; tries < 600; tries++) {
    const value = await found();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing after 60 s: ${JSON.stringify(code.record)}`);
}

const uri = (file) => code.vscode.Uri.file(file).toString();
const text = (shown) => code.providers.get("trainc").provideTextDocumentContent(
  code.vscode.Uri.parse(shown), new code.vscode.CancellationTokenSource().token);

test("a mistake in an open file is a diagnostic at its place", async () => {
  await activate({ "trainc.path": TRAINC });
  assert.deepEqual(code.record.errors, []);
  assert.deepEqual({ ...code.record.status, dispose: undefined }, {
    name: "trainc", text: "trainc: running", detail: TRAINC, severity: 0, busy: false, dispose: undefined,
    command: { command: "trainc.restart", title: "Restart" },
  });
  open(JOB);
  const [found] = await until(() => code.record.diagnostics.get(uri(job)));
  assert.equal(found.message, "unknown field spec.trainer.numNode in TrainJob\nhelp: did you mean numNodes?");
  assert.deepEqual(found.range, new code.vscode.Range(6, 4, 6, 11));
  assert.equal(found.severity, code.vscode.DiagnosticSeverity.Error);
});

test("the commands show documents of the server", async () => {
  await activate({ "trainc.path": TRAINC });
  assert.deepEqual([...code.commands.keys()].sort(), ["trainc.restart", ...SHOWN]);
  await code.vscode.commands.executeCommand("trainc.showPods");
  assert.deepEqual(code.record.information, ["trainc: open a YAML file of the workspace first"]);
  open(JOB.replace("numNode:", "numNodes:"));

  const jobset = await code.vscode.commands.executeCommand("trainc.showJobSet");
  assert.equal(jobset.uri, "trainc:/jobset/job.yaml");
  await until(() => code.record.shown.includes(jobset.uri));
  assert.match(await text(jobset.uri), /^kind: JobSet$/m);

  // A code lens has the file and the environment as arguments.
  const pods = await code.vscode.commands.executeCommand("trainc.showPods", uri(job), "");
  assert.deepEqual((await text(pods.uri)).match(/^address: .*$/gm), [
    "address: train-node-0-0.train", "address: train-node-0-1.train",
  ]);

  // The shown JobSet follows the edits.
  const changes = new Promise((resolve) => code.providers.get("trainc").onDidChange((one) => resolve(one.toString())));
  code.change(job, JOB.replace("numNode: 2", "numNodes: 3"));
  assert.equal(await changes, jobset.uri);
  assert.match(await text(jobset.uri), /^ +parallelism: 3$/m);
});

test("a program that cannot start is a message with the reason", async () => {
  const missing = path.join(folder, "nowhere", "trainc");
  await activate({ "trainc.path": "nowhere/trainc" });
  assert.deepEqual(code.record.errors, [`trainc: ${missing} cannot start: spawn ${missing} ENOENT`]);
  assert.equal(code.record.status.text, "trainc: not running");
  assert.equal(code.record.status.severity, code.vscode.LanguageStatusSeverity.Error);
  assert.equal(code.record.contexts.get("trainc.running"), false);

  // A change of the setting starts the server.
  code.configure({ "trainc.path": TRAINC });
  await until(() => code.record.status.text === "trainc: running");
  assert.equal(code.record.contexts.get("trainc.running"), true);
  open(JOB);
  await until(() => code.record.diagnostics.get(uri(job))?.length);
});

test("without the packages of the server, the message is the hint of --check", async () => {
  const program = path.join(folder, ".venv", "bin", "trainc");
  fs.mkdirSync(path.dirname(program), { recursive: true });
  fs.mkdirSync(path.join(folder, "broken", "pygls"), { recursive: true });
  fs.writeFileSync(path.join(folder, "broken", "pygls", "__init__.py"), "raise ModuleNotFoundError(name='pygls')\n");
  fs.writeFileSync(program, `#!/bin/sh\nPYTHONPATH='${folder}/broken' exec '${TRAINC}' "$@"\n`, { mode: 0o755 });
  await activate({});
  const [error] = code.record.errors;
  assert.match(error, /\/\.venv\/bin\/trainc cannot start: /);
  assert.match(error, /the language server requires the package pygls: .*pip install '\.\[lsp\]'/);
});

test("without a program, the message names the places and nothing is downloaded", async () => {
  process.env.PATH = path.join(folder, "empty");
  await activate({});
  assert.equal(code.record.errors.length, 1);
  assert.match(code.record.errors[0], /^trainc: there is no trainc in \.venv, .*trainc\.path.* PATH.*trainc\.clone$/);
  assert.deepEqual([...code.commands.keys()], ["trainc.restart"]);
});

test("without a program, a folder without trainc.yaml has only a status", async () => {
  process.env.PATH = path.join(folder, "empty");
  fs.rmSync(path.join(folder, "trainc.yaml"));
  await activate({});
  assert.deepEqual(code.record.errors, []);
  assert.equal(code.record.status.text, "trainc: not running");
  assert.match(code.record.status.detail, /^there is no trainc in /);
});

test("without a folder, no program starts", async () => {
  await activate({ "trainc.path": TRAINC }, null);
  assert.deepEqual(code.record.log, []);
  assert.equal(code.record.status.detail, "open a folder");
});
