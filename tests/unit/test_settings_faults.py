"""Invalid settings: each fault is an error at its line with a fix, and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import run
from syrupy.assertion import SnapshotAssertion

from trainc import budget
from trainc.base.releases import __version__
from trainc.settings import load
from trainc.settings.versions import accepts

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec: {runtimeRef: {name: torch-distributed}}
"""
LONG = "a" * 40
GPU = "nvidia.com/gpu"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with a valid job in a subfolder; return the subfolder as the current folder."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "job.yaml").write_text(JOB)
    monkeypatch.chdir(folder)
    return folder


def in_prod(text: str) -> str:
    return f"environments: {{prod: {{{text}}}}}"


@pytest.mark.parametrize(
    ("text", "expected", "help"),
    [
        # Unknown keys.
        pytest.param("source: [a]", "1:1: error[unknown-field]", "did you mean sources?", id="key"),
        pytest.param(
            "foo: 1", "1:1: error[unknown-field]", "remove it; trainc.yaml has the keys requiredV", id="no key"
        ),
        pytest.param("metadata: {}", "1:1: error[unknown-field]", "remove it;", id="metadata"),
        pytest.param(
            "delivery: {suspended: true}", "1:12: error[unknown-field]", "mean suspend?", id="key of delivery"
        ),
        pytest.param(
            in_prod("namespac: a"), "1:23: error[unknown-field]", "did you mean namespace?", id="in environment"
        ),
        pytest.param("patches: [{targets: {}}]", "1:12: error[unknown-field]", "did you mean target?", id="of a patch"),
        pytest.param("images: [{name: a, tag: b}]", "1:20: error[unknown-field]", "mean newTag?", id="of an image"),
        *(
            pytest.param(
                in_prod(f"{key}: {value}"),
                f"1:23: error[environment-key]: an environment cannot set {key}: it applies to the whole project",
                "move it to the top level of the file, or remove it",
                id=f"{key} in environment",
            )
            for key, value in (
                ("requiredVersion", '">=0.1"'),
                ("sources", "[a]"),
                ("output", "a"),
                ("environments", "{}"),
            )
        ),
        # Wrong types.
        pytest.param("sources: jobs", "1:10: error[wrong-type]", "use a list: [jobs]", id="no list"),
        pytest.param("requiredVersion: 0.2", "1:18: error[wrong-type]", 'quote it: "0.2"', id="a version as number"),
        pytest.param("output: [a]", "1:9: error[wrong-type]", "use the string without a list", id="no string"),
        pytest.param("environments: [dev]", "1:15: error[wrong-type]", "use {dev: {}}", id="environments as list"),
        pytest.param("environments: {dev: a}", "1:21: error[wrong-type]", "use a mapping: dev has", id="environment"),
        pytest.param("labels: {a: 1}", "1:13: error[wrong-type]", 'quote it: "1"', id="a label as number"),
        pytest.param(
            "images: [{name: a, newTag: 1.10}]", "1:28: error[wrong-type]", 'quote it: "1.10"', id="a tag with a zero"
        ),
        pytest.param("- a", "trainc.yaml must be a mapping, not a list", "use a mapping", id="a list"),
        pytest.param(
            "lint: {}\n---\nlint: {}",
            "3:1: error[unreadable]: trainc.yaml has 2 documents instead of one",
            "keep one document",
            id="two documents",
        ),
        pytest.param("images: [{name: a, newTag: 1.4}]", "1:28: error[wrong-type]", 'quote it: "1.4"', id="a tag"),
        pytest.param("patches: [3]", "1:11: error[wrong-type]", "use a mapping", id="a patch as number"),
        pytest.param(in_prod("lint: {strict: 1}"), "1:38: error[wrong-type]", "use true", id="type in environment"),
        # The version.
        pytest.param(
            'foo: 1\nrequiredVersion: ">=1000"',
            f"2:18: error[required-version]: the project requires trainc >=1000, but this is trainc {__version__}",
            "check out such a version in a clone of trainc, and run pip install . there",
            id="version",
        ),
        pytest.param('requiredVersion: "0.0.1"', "[required-version]", "run pip install . there", id="exact version"),
        pytest.param(
            'requiredVersion: ">=0, x"',
            '1:18: error[required-version]: requiredVersion ">=0, x" is not valid: " x" is not a version specifier',
            'use an operator and a version, such as ">=0.2" or ">=0.2,<1"',
            id="no version",
        ),
        # Paths.
        *(
            pytest.param(
                text,
                f'{place}: error[settings-path]: {key} must {kind} inside the root, not "{path}"',
                help,
                id=f"{key} {path} {place}",
            )
            for text, place, key, kind, path, help in (
                ("sources: [../..]", "1:11", "sources", "be relative paths", "../..", "or give them as PATH"),
                ("sources: [/etc]", "1:11", "sources", "be relative paths", "/etc", "or give them as PATH"),
                (
                    "output: ../../a",
                    "1:9",
                    "output",
                    "be a relative path",
                    "../../a",
                    "use a folder inside the repository",
                ),
                (
                    "runtimes: {paths: [a, ../../b]}",
                    "1:23",
                    "runtimes.paths",
                    "be relative paths",
                    "../../b",
                    "--runtimes",
                ),
                (
                    "keep: [../*.yaml]",
                    "1:8",
                    "the patterns of keep",
                    "match files",
                    "../*.yaml",
                    "in the output folder",
                ),
                (in_prod("runtimes: {paths: [/r]}"), "1:42", "runtimes.paths", "be relative paths", "/r", "--runtimes"),
            )
        ),
        pytest.param(
            "output: a/../../.git/b", "1:9: error[settings-path]: output must not", "use another", id="in git"
        ),
        *(
            pytest.param(
                template.format(path),
                f"1:{place}: error[settings-path]: {key} must not {words}",
                help,
                id=f"{key} {path}",
            )
            for template, place, key in (
                ("sources: [a, {}]", 14, "sources"),
                ("output: {}", 9, "output"),
                ("runtimes: {{paths: [{}]}}", 20, "runtimes.paths"),
                ("patches: [{{path: {}}}]", 18, "the path of a patch"),
                ("extends: {}", 10, "extends"),
            )
            for path, words, help in (
                (".git/config", 'be in a folder of git, such as ".git/config"', "use another path"),
                ("b/.Git", 'be in a folder of git, such as "b/.Git"', "use another path"),
                (".GIT/x", 'be in a folder of git, such as ".GIT/x"', "use another path"),
                (".github/a", 'be a hidden file or folder, such as ".github/a"', "use a name without a dot"),
                ("a/./.b", 'be a hidden file or folder, such as "a/./.b"', "use a name without a dot"),
                ('"a\\0b"', "have a NUL character", "remove the character"),
            )
        ),
        *(
            pytest.param(
                f"keep: ['{pattern}']",
                f"1:8: error[settings-path]: a pattern of keep must not be {words}",
                help,
                id=pattern,
            )
            for pattern, words, help in (
                ("!/a/.git/", "in a folder of git", "use another path"),
                ("**/.GIT/*.yaml", "in a folder of git", "use another path"),
            )
        ),
        pytest.param("output: ''", "1:9: error[too-short]", "set a value", id="no output"),
        pytest.param("sources: ['']", "1:11: error[too-short]", "set a value", id="no source"),
        pytest.param("runtimes: {paths: ['']}", "1:20: error[too-short]", "set a value", id="no runtime"),
        pytest.param("patches: [{path: ''}]", "1:18: error[", "", id="no patch"),
        # Patterns.
        pytest.param('exclude: ["[a-"]', "1:11: error[exclude-pattern]", "as in .gitignore", id="pattern"),
        pytest.param(
            in_prod('exclude: ["!"]'), "1:33: error[exclude-pattern]", "as in .gitignore", id="of environment"
        ),
        # Names.
        pytest.param(
            "environments: {Prod_1: {}}",
            '1:16: error[invalid-name]: "Prod_1" is not a valid name of an environment: it contains uppercase letters',
            "use lowercase letters, digits and `-`; for example prod-1",
            id="environment name",
        ),
        pytest.param(
            "environments: {../a: {}}", "1:16: error[invalid-name]", "use lowercase letters", id="a path as name"
        ),
        pytest.param("environments: {a.b: {}}", "1:16: error[invalid-name]", "for example a-b", id="a name with a dot"),
        pytest.param(f"environments: {{{'a' * 64}: }}", "1:16: error[invalid-name]", "use lowercase", id="a long name"),
        pytest.param("namespace: My_Team", "1:12: error[invalid-namespace]", "for example my-team", id="namespace"),
        pytest.param(in_prod("namespace: a.b"), "1:34: error[invalid-namespace]", "lowercase", id="of an environment"),
        pytest.param("namespace: ''", "1:12: error[too-short]", "set a value", id="empty namespace"),
        pytest.param(
            "namePrefix: 1-",
            '1:13: error[invalid-name]: no TrainJob name can have the namePrefix "1-": it starts with "1"',
            "start with a lowercase letter",
            id="prefix",
        ),
        pytest.param(
            "nameSuffix: -dev-",
            '1:13: error[invalid-name]: no TrainJob name can have the nameSuffix "-dev-": it ends with "-"',
            "end with a letter or digit",
            id="suffix",
        ),
        pytest.param(
            "legacy: {gang: Volcano}",
            '1:16: error[invalid-name]: "Volcano" is not a gang scheduler',
            "did you mean volcano?",
            id="gang",
        ),
        pytest.param(
            "legacy: {gang: a_b}",
            '1:16: error[invalid-name]: "a_b" is not a valid name of a scheduler: it contains "_"',
            "use volcano, coscheduling or a valid name",
            id="gang name",
        ),
        pytest.param("nameSuffix: _dev", "1:13: error[invalid-name]", "use lowercase letters", id="a character"),
        pytest.param(
            f"namePrefix: {'a' * 63}", "1:13: error[too-long]", "shorten it by 1 character", id="a long prefix"
        ),
        pytest.param(
            f"namePrefix: {LONG}\n{in_prod(f'nameSuffix: {LONG}')}",
            "2:35: error[invalid-name]: namePrefix and nameSuffix have 80 characters; a TrainJob name has at most 63",
            "shorten one of them",
            id="a long prefix and suffix",
        ),
        # Labels and annotations.
        pytest.param('labels: {"a b": c}', "1:10: error[invalid-label]", "use letters, digits", id="label key"),
        pytest.param(
            in_prod("labels: {a: b c}"), "1:35: error[invalid-label]", "use letters, digits", id="label value"
        ),
        pytest.param('annotations: {"/a": c}', "1:15: error[invalid-annotation]", "use letters", id="annotation key"),
        # Images.
        pytest.param(
            "images: [{name: a}]",
            '1:10: error[image-change]: the entry for the image "a" changes nothing',
            "set newName, newTag or digest, or remove the entry",
            id="no change",
        ),
        pytest.param(
            in_prod('images: [{name: "a:v1", newTag: v2}]'),
            '1:39: error[image-change]: "a:v1" is not the name of an image',
            "remove tag and digest: every tag matches",
            id="image with tag",
        ),
        pytest.param("images: [{name: A, newTag: v2}]", "1:17: error[image-change]", "use a name such as", id="image"),
        pytest.param(
            "images: [{name: a, newTag: a b}]", "1:28: error[image-change]", "use letters, digits", id="new tag"
        ),
        pytest.param("images: [{name: a, newName: 'b:c'}]", "1:29: error[image-change]", "without tag", id="new name"),
        pytest.param("images: [{name: a, digest: abc}]", "1:28: error[image-change]", "use sha256:", id="digest"),
        pytest.param("images: [{newTag: v1}]", "1:10: error[required]", "add name, a string", id="no name"),
        pytest.param(
            "images: [{name: a, newTag: b}, {name: a, newTag: c}]",
            "1:32: error[duplicate-item]",
            "remove the duplicate",
            id="one image twice",
        ),
        # Accelerators of two layers.
        pytest.param(
            f"accelerators: {{{GPU}: {{volumes: [{{name: a, hostPath: /a, mountPath: /a}}]}}}}\n"
            + in_prod("accelerators: {amd.com/gpu: {volumes: [{name: a, hostPath: /b, mountPath: /b}]}}"),
            '2:82: error[duplicate-item]: hostPath differs from the first volume "a", which has "/a"',
            "rename one of the volumes",
            id="one volume name in two layers",
        ),
    ],
)
def test_a_fault_is_an_error_at_its_line_and_nothing_is_written(
    text: str, expected: str, help: str, snapshot: SnapshotAssertion
) -> None:
    Path("trainc.yaml").write_text(f"{text}\n")
    done = run("validate")
    assert done.code == 1
    assert done.out.count(": error[") == 1
    assert "trainc.yaml:" in done.out
    assert expected in done.out
    assert f"help: {help}" in done.out or help in done.out.partition("  help: ")[2]
    report, _, _ = done.out.rpartition("\n\n")
    assert report.replace(f"this is trainc {__version__}", "this is trainc VERSION") == snapshot
    built = run("build", ".", "-o", "rendered")
    assert (built.code, built.out, Path("rendered").exists()) == (1, "", False)
    assert expected in built.err


def test_every_fault_of_every_environment_is_reported_once() -> None:
    Path("trainc.yaml").write_text(
        f"""\
accelerators: {{{GPU}: {{volumes: [{{name: a, hostPath: a, mountPath: /a}}]}}}}
environments:
  dev: {{namespace: A, accelerators: {{{GPU}: {{env: [{{name: X}}]}}}}}}
  prod: {{namespace: B, accelerators: {{{GPU}: {{env: [{{name: Z}}]}}}}}}
"""
    )
    done = run("validate")
    assert [line.split(": error")[0] for line in done.out.splitlines() if ": error[" in line] == [
        "trainc.yaml:1:63",
        "trainc.yaml:3:20",
        "trainc.yaml:4:21",
    ]


@pytest.mark.parametrize("options", [[], ["--among", ".", "job.yaml"]], ids=["project", "subset"])
@pytest.mark.parametrize("text", ["exclude: [charts]\nlints: 1\n", "- a\n", "a: [\n", "requiredVersion: '>1000'\n"])
def test_other_files_are_not_read(text: str, options: list[str]) -> None:
    Path("charts").mkdir()
    Path("charts/job.yaml").write_text("{{- if .Values.train }}\nkind: TrainJob\n{{- end }}\n")
    Path("job.yaml").write_text(JOB.replace("torch-distributed", "only-in-runtimes-paths"))
    Path("trainc.yaml").write_text(text)
    done = run("validate", *options)
    places = [line.split(":")[0] for line in done.out.splitlines() if ": error[" in line]
    summary = done.out.splitlines()[-2].removesuffix("; 1 can be fixed with --fix")
    assert (places, done.code, summary) == (["trainc.yaml"], 1, "1 error in 1 file (checked 1 file)")


def test_the_version_is_checked_first() -> None:
    Path("trainc.yaml").write_text(
        'requiredVersion: ">=1000"\nnewKey: 1\nlint: []\nenvironments: {A_B: {sources: 1}}\n'
    )
    (found,) = load(["."]).diagnostics
    assert found.id == "required-version"


@pytest.mark.parametrize(
    ("specifiers", "yes", "no"),
    [
        pytest.param(">=0.2", ["0.2", "0.2.0", "0.2.1", "0.10", "1.0"], ["0.1.9", "0.2rc1", "0.2.0a1"], id="at least"),
        pytest.param(">0.2", ["0.2.1", "0.3"], ["0.2", "0.2.0", "0.1", "0.2rc1"], id="more"),
        pytest.param("<=0.2", ["0.2", "0.2.0", "0.1", "0.2rc1"], ["0.2.1"], id="at most"),
        pytest.param("<1", ["0.9", "0.9.9rc1"], ["1", "1.0", "1.0rc1", "1.0.1"], id="less"),
        pytest.param("==0.3.1", ["0.3.1", "0.3.1.0"], ["0.3", "0.3.10", "0.3.1rc1"], id="equal"),
        pytest.param("0.3.1", ["0.3.1"], ["0.3.2"], id="exact"),
        pytest.param("!=0.3", ["0.3.1", "0.4"], ["0.3", "0.3.0"], id="unequal"),
        pytest.param("~=0.3.1", ["0.3.1", "0.3.9"], ["0.3", "0.4", "0.3.1rc1"], id="compatible"),
        pytest.param("~=0.3", ["0.3", "0.9"], ["0.2", "1.0"], id="compatible minor"),
        pytest.param("~=0.0.1", ["0.0.1", "0.0.7"], ["0.1"], id="compatible zeros"),
        pytest.param(">=0.2, <1", ["0.2", "0.9"], ["0.1", "1.0"], id="both"),
        pytest.param(">=0.2rc2", ["0.2rc2", "0.2", "0.2rc10"], ["0.2rc1", "0.2b9", "0.2a1"], id="pre-release"),
    ],
)
def test_versions(specifiers: str, yes: list[str], no: list[str]) -> None:
    assert [version for version in (*yes, *no) if accepts(specifiers, version)] == yes


@pytest.mark.parametrize(
    "specifiers", ["", "new", ">=", ">=0.2,", "=>1", "0.2 0.3", "~=1", ">= 1.x", "9" * 50, "==1.*"]
)
def test_no_version(specifiers: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(specifiers.rpartition(',')[2])}$"):
        accepts(specifiers, "0.1.0")


@pytest.mark.parametrize(
    ("text", "arguments", "expected", "help"),
    [
        pytest.param(
            "environments: {dev: , prod: }",
            ["--env", "prd"],
            'trainc.yaml:1:1: error[unknown-environment]: "prd" is not an environment',
            "did you mean prod? trainc.yaml has the environments dev, prod",
            id="a typing error",
        ),
        pytest.param(
            "environments: {dev: , prod: }",
            ["--env", "xyz"],
            '"xyz" is not',
            "use one of dev or prod",
            id="another name",
        ),
        pytest.param(
            "lint: {}",
            ["--env", "dev"],
            'trainc.yaml:1:1: error[unknown-environment]: "dev" is not an environment: trainc.yaml has no environments',
            "add it to environments",
            id="none",
        ),
        pytest.param(
            "environments: {dev: }",
            ["--env", "dev", "--no-config"],
            'error[unknown-environment]: "dev" is not an environment: no trainc.yaml is read',
            "add it to environments of a trainc.yaml",
            id="no file",
        ),
    ],
)
def test_an_unknown_environment(text: str, arguments: list[str], expected: str, help: str) -> None:
    Path("trainc.yaml").write_text(f"{text}\n")
    done = run("settings", *arguments)
    assert (done.code, done.out) == (1, "")
    assert expected in done.err
    assert f"help: {help}\n" in done.err


def test_the_names_of_many_environments_are_shortened() -> None:
    names = [f"team-{number}" for number in range(1000)]
    Path("trainc.yaml").write_text(f"environments: {{{', '.join(f'{name}: {{}}' for name in names)}}}\n")
    done = run("settings", "--env", "team_7")
    assert "did you mean team-7? trainc.yaml has the environments team-0, team-1" in done.err
    assert len(done.err) < 1000


def test_of_a_file_with_errors_only_they_are_reported() -> None:
    Path("trainc.yaml").write_text("output: ../..\nenvironments: {dev: }\n")
    done = run("settings", "--env", "prod", "--env", "dev")
    assert (done.code, done.err.count("error["), "error[settings-path]" in done.err) == (1, 1, True)


MANY = "environments:\n" + "".join(f"  e{number}: {{namespac: a}}\n" for number in range(10_000))


@pytest.mark.parametrize(
    ("arguments", "most", "next"),
    [([], 1000, "unlimited"), (["--budget", "default"], 1000, "unlimited"), (["--budget", "ci"], 100, "default")],
)
def test_too_many_environments_are_refused_by_their_number(arguments: list[str], most: int, next: str) -> None:
    Path("trainc.yaml").write_text(MANY)
    done = run("validate", *arguments)
    assert (done.code, done.out.count("error[")) == (1, 1)
    name = "ci" if most == 100 else "default"
    assert f'1:1: error[over-budget]: more than {most} environments, the limit of the budget "{name}"' in done.out
    assert f"help: define fewer environments, or use --budget {next}" in done.out


def test_the_number_of_environments_that_a_budget_accepts() -> None:
    text = "environments:\n" + "".join(f"  e{number}: {{namespace: a}}\n" for number in range(1001))
    Path("trainc.yaml").write_text(text)
    assert [d.id for d in load(["."]).diagnostics] == ["over-budget"]
    found = load(["."], limits=budget.UNLIMITED)
    assert (found.diagnostics, len(found.environment_names)) == ((), 1001)
    Path("trainc.yaml").write_text(text.replace("  e0: {namespace: a}\n", ""))
    assert load(["."]).diagnostics == ()


BOMB = "labels: &a0 {a: b}\n" + "".join(f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(BOMB, "error[", id="aliases"),
        pytest.param(f"labels: {'[' * 20_000}{']' * 20_000}\n", "error[yaml]", id="depth"),
        pytest.param(f"accelerators: {'{a: ' * 5_000}{'}' * 5_000}\n", "error[", id="deep mappings"),
        pytest.param("&a labels: *a\n", "error[", id="a key as alias"),
        pytest.param("labels: &a {b: *a}\n", "error[yaml]", id="an alias in itself"),
        pytest.param(f"requiredVersion: '{'>=1,' * 10_000}'\n", "error[required-version]", id="long specifiers"),
        pytest.param("? [a, b]\n: c\n", "error[", id="a list as key"),
        pytest.param("1: a\n", "error[unknown-field]", id="a number as key"),
        pytest.param("environments: {1: {}}\n", "", id="a number as name"),
        pytest.param("environments: {null: {}}\n", "error[yaml]", id="null as name"),
        pytest.param('environments: {"a\\u001b[31m": {}}\n', "error[invalid-name]", id="control characters"),
    ],
)
def test_hostile_files(text: str, expected: str) -> None:
    Path("trainc.yaml").write_text(text)
    done = run("validate")
    assert done.code == (1 if expected else 0)
    assert expected in done.out
    assert "\x1b" not in done.out
    assert len(done.out) < 20_000
