// trainc in a worker of its own: the page stays responsive, and can end a run that takes too long.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const sizes = new Map();

// Fetch a file and report the bytes so far: Python takes it from the cache afterwards.
async function fetched(url, total) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const parts = [];
  let size = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    sizes.set(url, size);
    const sum = [...sizes.values()].reduce((a, b) => a + b, 0);
    postMessage({ loaded: sum, total, what: url });
  }
  return new Blob(parts).arrayBuffer();
}

const ready = (async () => {
  const files = await (await fetch("files.json")).json();
  const total = Object.values(files).reduce((a, b) => a + b, 0);
  const [app] = await Promise.all(
    ["app.zip", ...Object.keys(files).filter((name) => name !== "app.zip")].map((name) => fetched(name, total)),
  );
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href });
  python.unpackArchive(app, "zip", { extractDir: "/app" });
  python.runPython("import os, sys; sys.path.insert(0, '/app'); os.makedirs('/project'); os.chdir('/project')");
  const answer = python.pyimport("trainc_page").answer;
  postMessage({ ready: true });
  return answer;
})();
ready.catch((error) => postMessage({ failed: String(error) }));

onmessage = async ({ data }) => {
  const answer = await ready;
  const began = performance.now();
  try {
    const value = JSON.parse(answer(JSON.stringify(data.request)));
    postMessage({ id: data.id, value, milliseconds: performance.now() - began });
  } catch (error) {
    postMessage({ id: data.id, value: { error: String(error.message ?? error).trim().split("\n").at(-1) } });
  }
};
