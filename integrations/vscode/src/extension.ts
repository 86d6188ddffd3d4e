// Start `trainc lsp` for the first folder of the workspace, and connect VS Code to it.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Executable, LanguageClient, type LanguageClientOptions, State } from "vscode-languageclient/node";
import { type Program, program } from "./program";

const CHECK_TIMEOUT = 120_000; // uvx installs trainc from the clone when it runs it for the first time
const NOT_FOUND =
  "there is no trainc in .venv, in the setting trainc.path or on the PATH. " +
  "Install it from a clone of its repository, with pip install '.[lsp]', or set trainc.path or trainc.clone";
const SELECTOR = [{ scheme: "file", language: "yaml" }];
const RUNNING = "running";
const SHOW_SETTINGS = "Show Settings";
const SHOW_LOG = "Show Log";

let client: LanguageClient | undefined;
let last: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("trainc", { log: true });
  const status = vscode.languages.createLanguageStatusItem("trainc", SELECTOR);
  status.name = "trainc";
  const restart = (): Promise<void> => {
    last = last.then(stop).then(() => start(log, status));
    return last;
  };
  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand("trainc.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const changed = ["path", "clone", "verbose"].some((name) => event.affectsConfiguration(`trainc.${name}`));
      if (changed) void restart();
    }),
  );
  await restart();
}

export function deactivate(): Promise<void> {
  return last.then(stop);
}

async function stop(): Promise<void> {
  const stopped = client;
  client = undefined;
  if (stopped?.isRunning()) await stopped.dispose();
}

async function start(log: vscode.LogOutputChannel, status: vscode.LanguageStatusItem): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (folder === undefined) {
    // The folder decides the program, and is the project.
    show(status, "not running", "open a folder", vscode.LanguageStatusSeverity.Information);
    return;
  }
  status.busy = true;
  show(status, "starting", "", vscode.LanguageStatusSeverity.Information);
  try {
    client = await started(folder, log, status);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.error(reason);
    show(status, "not running", reason, vscode.LanguageStatusSeverity.Error);
    // A folder with other YAML files may have no trainc.
    if (reason !== NOT_FOUND || existsSync(path.join(folder, "trainc.yaml"))) void offer(reason, log);
  } finally {
    status.busy = false;
  }
}

async function started(
  folder: string,
  log: vscode.LogOutputChannel,
  status: vscode.LanguageStatusItem,
): Promise<LanguageClient> {
  const settings = vscode.workspace.getConfiguration("trainc");
  const chosen = program(
    folder,
    { path: settings.get("path", ""), clone: settings.get("clone", "") },
    process.env.PATH ?? "",
    process.platform === "win32",
  );
  if (chosen === undefined) throw new Error(NOT_FOUND);
  log.info(`${await check(chosen, folder)}, from ${chosen.command}`);
  const options = settings.get("verbose", false) ? ["-v"] : [];
  const server: Executable = {
    command: chosen.command,
    args: [...chosen.arguments, "lsp", ...options],
    options: { cwd: folder },
  };
  const created = new LanguageClient("trainc", "trainc", server, clientOptions(log));
  created.onDidChangeState(({ newState }) => {
    const { Error: failure, Information: information } = vscode.LanguageStatusSeverity;
    if (newState === State.Running) show(status, RUNNING, chosen.command, information);
    if (newState === State.Stopped && created === client) show(status, "not running", "the server ended", failure);
  });
  await created.start();
  return created;
}

/** Return what `trainc lsp --check` prints, or throw an error with its hint. */
function check(chosen: Program, folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, timeout: CHECK_TIMEOUT };
    execFile(chosen.command, [...chosen.arguments, "lsp", "--check"], options, (error, output, errors) => {
      if (error === null) return resolve(output.trim());
      const reason = errors.trim() || error.message;
      return reject(new Error(`${chosen.command} cannot start: ${reason}`));
    });
  });
}

function clientOptions(log: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: SELECTOR,
    diagnosticCollectionName: "trainc",
    outputChannel: log,
    middleware: {
      // A code lens has the file as an argument. The command palette has none: then it is the file of the editor.
      executeCommand: async (command, given, next) => {
        const editor = vscode.window.activeTextEditor?.document.uri;
        if (given.length === 0 && editor?.scheme !== "file") {
          void vscode.window.showInformationMessage("trainc: open a YAML file of the workspace first");
          return undefined;
        }
        return next(command, given.length === 0 ? [String(editor)] : given);
      },
    },
  };
}

function show(
  status: vscode.LanguageStatusItem,
  text: string,
  detail: string,
  severity: vscode.LanguageStatusSeverity,
): void {
  status.text = `trainc: ${text}`;
  status.detail = detail;
  status.severity = severity;
  status.command = { command: "trainc.restart", title: "Restart" };
  // Without the server, its commands do not exist.
  void vscode.commands.executeCommand("setContext", "trainc.running", text === RUNNING);
}

async function offer(reason: string, log: vscode.LogOutputChannel): Promise<void> {
  const answer = await vscode.window.showErrorMessage(`trainc: ${reason}`, SHOW_SETTINGS, SHOW_LOG);
  if (answer === SHOW_SETTINGS) await vscode.commands.executeCommand("workbench.action.openSettings", "trainc.");
  if (answer === SHOW_LOG) log.show();
}
