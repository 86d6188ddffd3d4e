// The program that the extension starts: a trainc of the user, never one from a package index.
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";

export interface Program {
  readonly command: string;
  /** The arguments before `lsp`. */
  readonly arguments: readonly string[];
}

export interface Settings {
  /** The program trainc; empty without the setting. */
  readonly path: string;
  /** A clone of trainc's repository; empty without the setting. */
  readonly clone: string;
}

/** Return the program for a folder, or undefined without any; `search` is the PATH. */
export function program(folder: string, settings: Settings, search: string, windows: boolean): Program | undefined {
  const suffix = windows ? ".exe" : "";
  const own = path.join(folder, ".venv", windows ? "Scripts" : "bin", `trainc${suffix}`);
  if (executable(own)) return { command: own, arguments: [] };
  // A setting with a mistake is an error when the program starts; another program would hide the mistake.
  if (settings.path) return { command: absolute(folder, settings.path), arguments: [] };
  const installed = onPath(`trainc${suffix}`, search);
  if (installed) return { command: installed, arguments: [] };
  if (!settings.clone) return undefined;
  const uvx = onPath(`uvx${suffix}`, search) ?? "uvx";
  return { command: uvx, arguments: ["--from", `${absolute(folder, settings.clone)}[lsp]`, "trainc"] };
}

function absolute(folder: string, name: string): string {
  return path.resolve(folder, name.replace(/^~(?=$|[\\/])/, homedir()));
}

function onPath(name: string, search: string): string | undefined {
  // A relative entry would be a folder of the workspace, which the user did not choose.
  const folders = search.split(path.delimiter).filter((entry) => path.isAbsolute(entry));
  return folders.map((entry) => path.join(entry, name)).find(executable);
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
