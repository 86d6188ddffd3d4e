// Bundle the extension in dist/extension.js, and write the licenses of the packages in it.
import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  metafile: true,
  logLevel: "warning",
});

const folders = Object.keys(metafile.inputs).flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
const notices = [...new Set(folders)].sort().map((folder) => {
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "License.txt"].find((name) => existsSync(`${folder}/${name}`));
  if (file === undefined) throw new Error(`${folder} has no license`);
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/LICENSES.txt", notices.join("\n----\n\n"));
