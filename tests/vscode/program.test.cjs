// The program that the extension chooses. PROGRAM is src/program.ts as a module of Node.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { afterEach, beforeEach, test } = require("node:test");
const { program } = require(process.env.PROGRAM);

const NONE = { path: "", clone: "" };
let folder, bin;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "program-"));
  bin = path.join(folder, "bin");
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

function write(name, mode = 0o755) {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "", { mode });
  return file;
}

const chosen = (settings = {}, windows = false, search = bin) =>
  program(folder, { ...NONE, ...settings }, search, windows);
const starts = (command, ...given) => ({ command, arguments: given });

test("the order of the programs", () => {
  assert.equal(chosen(), undefined);
  const uvx = write("bin/uvx");
  assert.equal(chosen(), undefined, "uvx has no package to run without a clone");
  const clone = { clone: "../clone" };
  assert.deepEqual(chosen(clone), starts(uvx, "--from", `${path.resolve(folder, "../clone")}[lsp]`, "trainc"));
  const installed = write("bin/trainc");
  assert.deepEqual(chosen(clone), starts(installed));
  assert.deepEqual(chosen({ path: "/opt/trainc", ...clone }), starts("/opt/trainc"));
  const own = write(".venv/bin/trainc");
  assert.deepEqual(chosen({ path: "/opt/trainc", ...clone }), starts(own));
});

test("the program of a virtual environment on Windows", () => {
  write(".venv/bin/trainc");
  assert.equal(chosen({}, true), undefined);
  const own = write(".venv/Scripts/trainc.exe");
  assert.deepEqual(chosen({}, true), starts(own));
});

test("a path of the settings is relative to the folder, or to the home", () => {
  assert.deepEqual(chosen({ path: "tools/trainc" }), starts(path.join(folder, "tools", "trainc")));
  assert.deepEqual(chosen({ path: "~/bin/trainc" }), starts(path.join(os.homedir(), "bin", "trainc")));
  assert.deepEqual(chosen({ path: "~other/trainc" }), starts(path.join(folder, "~other", "trainc")));
});

test("what is no program is passed over", () => {
  write(".venv/bin/trainc", 0o644);
  fs.mkdirSync(path.join(bin, "trainc"), { recursive: true });
  const installed = write("second/trainc");
  assert.deepEqual(chosen({}, false, [bin, path.join(folder, "second")].join(path.delimiter)), starts(installed));
});

test("a relative folder on the PATH is not searched", () => {
  write("bin/trainc");
  const here = process.cwd();
  process.chdir(folder);
  try {
    assert.equal(chosen({}, false, ["", ".", "bin"].join(path.delimiter)), undefined);
  } finally {
    process.chdir(here);
  }
});
