// Offline after the first visit. The build writes the version, which is the hash of all files.
// A new version waits until the pages of the old one are closed, so that no page has files of both.
const CACHE = "playground-VERSION";
const PAGE = ["./", "style.css", "main.js", "worker.js", "examples.json", "files.json"];

const PYTHON = ["app.zip", ...["mjs", "asm.mjs", "asm.wasm"].map((end) => `pyodide/pyodide.${end}`),
  "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json"];

const fresh = { cache: "no-cache" }; // the browser's own cache may have the files of the version before

// The first visit loads Python with a progress bar, and an update before it takes over: the page stays available offline.
const files = () => (registration.active ? [...PAGE, ...PYTHON] : PAGE);
self.addEventListener("install", (event) =>
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(files().map((name) => new Request(name, fresh))))),
);
self.addEventListener("activate", (event) =>
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys())
        if (name.startsWith("playground-") && name !== CACHE) await caches.delete(name);
      await clients.claim();
    })(),
  ),
);
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(
    (async () => {
      const cache = await caches.open(CACHE);
      const stored = await cache.match(event.request, { ignoreSearch: true });
      if (stored) return stored;
      const response = await fetch(event.request, fresh);
      if (response.ok) await cache.put(event.request, response.clone());
      return response;
    })(),
  );
});
