// The part of VS Code's API that the extension and its client use, without an editor: it records what they show.
// Events of the API that have no part here never fire, and providers of other features are ignored.
const { pathToFileURL, fileURLToPath } = require("node:url");

class Disposable {
  constructor(dispose = () => undefined) {
    this.dispose = dispose;
  }
  static from(...all) {
    return new Disposable(() => all.forEach((each) => each.dispose()));
  }
}

class EventEmitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(value) {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose() {
    this.listeners.clear();
  }
}

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = new URL(text).protocol.slice(0, -1);
    this.path = new URL(text).pathname;
  }
  static parse = (text) => new Uri(text);
  static file = (path) => new Uri(pathToFileURL(path).href);
  get fsPath() {
    return fileURLToPath(this.text);
  }
  toString() {
    return this.text;
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(startLine, startCharacter, endLine, endCharacter) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  static Empty = new CodeActionKind("");
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
for (const [name, value] of Object.entries({ QuickFix: "quickfix", Refactor: "refactor", Source: "source" })) {
  CodeActionKind[name] = CodeActionKind.Empty.append(value);
}

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };
  cancel() {}
  dispose() {}
}

/** Classes that the client extends, and enumerations that it reads: for features that the tests do not use. */
const OTHERS = [
  "CallHierarchyItem", "CancellationError", "CodeAction", "CodeLens", "CompletionItem", "CompletionItemKind",
  "CompletionItemTag", "DiagnosticRelatedInformation", "DiagnosticTag", "DocumentLink", "FileType", "FoldingRangeKind",
  "InlayHint", "Location", "MarkdownString", "RelativePattern", "SymbolInformation", "SymbolKind", "SymbolTag",
  "TabInputCustom", "TabInputNotebook", "TabInputText", "TabInputTextDiff", "TextDocumentSaveReason", "TypeHierarchyItem",
];

/** Complete a namespace of the API: events that never fire, and functions that return a disposable object. */
function namespace(members) {
  const other = (name) => (/^on[A-Z]/.test(name) ? new EventEmitter().event : () => new Disposable());
  return new Proxy(members, { get: (target, name) => (name in target ? target[name] : other(String(name))) });
}

/** Return the API for a folder, or none, with settings, and the record of what was shown. */
exports.editor = (folder, settings = {}) => {
  const record = {
    errors: [], information: [], log: [], status: {}, shown: [], diagnostics: new Map(), contexts: new Map(),
  };
  const events = { open: new EventEmitter(), change: new EventEmitter(), configuration: new EventEmitter() };
  const commands = new Map();
  const providers = new Map();
  const document = (uri, text) => ({
    uri,
    languageId: "yaml",
    version: 1,
    isClosed: false,
    isDirty: false,
    fileName: uri.path,
    getText: () => text,
  });
  const write = (line) => void record.log.push(line);
  const channel = { info: write, warn: write, error: write, debug: write, trace: write, append: write, appendLine: write };
  const diagnostics = {
    set: (uri, found) => record.diagnostics.set(uri.toString(), found ?? []),
    delete: (uri) => record.diagnostics.delete(uri.toString()),
    clear: () => record.diagnostics.clear(),
    dispose: () => record.diagnostics.clear(),
  };
  const workspace = namespace({
    textDocuments: [],
    notebookDocuments: [],
    workspaceFolders: folder && [{ uri: Uri.file(folder), name: "folder", index: 0 }],
    getConfiguration: (section) => ({
      get: (name, fallback) => settings[section ? `${section}.${name}` : name] ?? fallback,
    }),
    createFileSystemWatcher: () => namespace({ dispose: () => undefined }),
    getWorkspaceFolder: () => workspace.workspaceFolders?.[0],
    onDidOpenTextDocument: events.open.event,
    onDidChangeTextDocument: events.change.event,
    onDidChangeConfiguration: events.configuration.event,
    registerTextDocumentContentProvider: (scheme, provider) => {
      providers.set(scheme, provider);
      return new Disposable(() => providers.delete(scheme));
    },
  });
  const api = {
    version: "1.91.0",
    Disposable,
    EventEmitter,
    Uri,
    Position,
    Range,
    Diagnostic,
    CancellationTokenSource,
    CodeActionKind,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
    env: namespace({ language: "en", appName: "test" }),
    extensions: namespace({ all: [] }),
    workspace,
    languages: namespace({
      match: (selector, { languageId, uri }) =>
        [selector].flat().some((one) => one.language === languageId && one.scheme === uri.scheme) ? 10 : 0,
      createDiagnosticCollection: () => diagnostics,
      createLanguageStatusItem: () => Object.assign(record.status, { dispose: () => undefined }),
    }),
    commands: namespace({
      registerCommand: (name, run) => {
        if (commands.has(name)) throw new Error(`the command ${name} exists`);
        commands.set(name, run);
        return new Disposable(() => commands.delete(name));
      },
      executeCommand: async (name, ...given) =>
        name === "setContext" ? record.contexts.set(...given) : commands.get(name)(...given),
    }),
    window: namespace({
      activeTextEditor: undefined,
      visibleTextEditors: [],
      tabGroups: namespace({ all: [] }),
      createOutputChannel: () => namespace({ ...channel, name: "trainc", logLevel: 3 }),
      showErrorMessage: async (text) => void record.errors.push(text),
      showInformationMessage: async (text) => void record.information.push(text),
      showTextDocument: async (uri) => void record.shown.push(uri.toString()),
    }),
  };
  const vscode = Object.assign(Object.fromEntries(OTHERS.map((name) => [name, class {}])), api);
  return {
    vscode,
    record,
    commands,
    providers,
    settings,
    context: { subscriptions: [] },
    /** Open a file in the editor. */
    open(path, text) {
      const opened = document(Uri.file(path), text);
      workspace.textDocuments.push(opened);
      api.window.activeTextEditor = { document: opened };
      events.open.fire(opened);
    },
    /** Replace the text of an open file. */
    change(path, text) {
      const changed = workspace.textDocuments.find((each) => each.uri.fsPath === path);
      changed.getText = () => text;
      changed.version += 1;
      events.change.fire({ document: changed, contentChanges: [{ text }], reason: undefined });
    },
    configure(changed) {
      Object.assign(settings, changed);
      events.configuration.fire({ affectsConfiguration: (name) => name in changed });
    },
  };
};
