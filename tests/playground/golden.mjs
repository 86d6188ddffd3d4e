// Run each golden case with the files of the playground, in Node: golden.mjs PLAYGROUND GOLDEN
// Prints a JSON object with the exit code, standard output and standard error of each case.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [playground, golden] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${playground}/pyodide/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${playground}/pyodide/` });
python.unpackArchive(new Uint8Array(await readFile(`${playground}/app.zip`)), "zip", { extractDir: "/app" });
python.FS.mkdirTree("/golden");
python.FS.mount(python.FS.filesystems.NODEFS, { root: golden }, "/golden");
const answers = python.runPython(`
import io, json, os, sys
sys.path.insert(0, "/app")
from pathlib import Path
from trainc.cli import entry


def run(words):
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    old = sys.stdout, sys.stderr
    sys.argv, sys.stdout, sys.stderr = ["trainc", *words], *streams
    try:
        entry()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdout, sys.stderr = old
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return [code, *texts]


found = {}
for file in sorted(Path("/golden").glob("*/input.yaml")):
    os.chdir(file.parent)
    second = [*file.read_text().splitlines(), ""][1]
    found[file.parent.name] = run(second.removeprefix("# $ trainc ").split() if second.startswith("# $ ") else ["build", "input.yaml"])
json.dumps(found)
`);
process.stdout.write(answers);
