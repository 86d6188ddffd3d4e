"""Kubernetes' rules for names: of objects, labels, variables, ports, ConfigMap keys and paths.

Every `..._errors` reads the text and returns the reasons why it is invalid; none if it is valid.
Source: Kubernetes 1.36, apimachinery's name validation. The reasons have the same text, so that
users find them by searching. Lengths count bytes, even where a reason says characters; patterns match ASCII only, and
the whole text. `fault` and `example` are parts of messages: the reason in words, and a similar valid name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from trainc.kubernetes.violations import listed, shown

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE: Final = f"({_QUALIFIED})?"
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_PATH: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

LONGEST_LABEL: Final = 63
"""Maximum characters of a DNS label, which the names of Jobs, pods and claims must be."""
_MOST: Final = 2**16
"""Number of names cached with their reasons, which must not be modified: jobs repeat the same labels."""


@lru_cache(maxsize=_MOST)
def dns1123_label_errors(value: str) -> list[str]:
    """Check the name of most parts of an object: containers, volumes, replicated jobs."""
    reasons = _too_long(value, LONGEST_LABEL)
    if not re.fullmatch(_LABEL, value):
        if re.fullmatch(_SUBDOMAIN, value):
            return [*reasons, "must not contain dots"]
        reasons.append(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            f"and must start and end with an alphanumeric character {_such_as(_LABEL, 'my-name', '123-abc')}"
        )
    return reasons


def dns1035_label_errors(value: str) -> list[str]:
    """Check the name of a Service: a label that starts with a letter."""
    reasons = _too_long(value, LONGEST_LABEL)
    if not re.fullmatch(_LABEL_1035, value):
        reasons.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            f"character, and end with an alphanumeric character {_such_as(_LABEL_1035, 'my-name', 'abc-123')}"
        )
    return reasons


@lru_cache(maxsize=_MOST)
def dns1123_subdomain_errors(value: str) -> list[str]:
    """Check the name of most objects: labels joined by dots."""
    return _subdomain(value, "characters")


@lru_cache(maxsize=_MOST)
def qualified_name_errors(value: str) -> list[str]:
    """Check the key of a label or annotation, or a resource name: a name with an optional domain prefix and slash."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_QUALIFIED_RULE} {example}"]
    reasons: list[str] = []
    if slash and not prefix:
        reasons.append("prefix part must be non-empty")
    elif slash:
        reasons += [f"prefix part {reason}" for reason in _subdomain(prefix, "bytes")]
    if not name:
        reasons.append("name part must be non-empty")
    reasons += [f"name part {reason}" for reason in _too_long(name, LONGEST_LABEL, "bytes")]
    if not re.fullmatch(_QUALIFIED, name):
        reasons.append(f"name part {_QUALIFIED_RULE}")
    return reasons


@lru_cache(maxsize=_MOST)
def label_value_errors(value: str) -> list[str]:
    """Check the value of a label, which may be empty."""
    reasons = _too_long(value, LONGEST_LABEL, "bytes")
    if not re.fullmatch(_LABEL_VALUE, value):
        reasons.append(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
            f"start and end with an alphanumeric character {_such_as(_LABEL_VALUE, 'MyValue', 'my_value', '12345')}"
        )
    return reasons


def env_var_name_errors(value: str) -> list[str]:
    """Check the name of a container's variable: any printable ASCII characters except an equals sign."""
    if not value:
        return ["environment variable name must be non-empty"]
    if not re.fullmatch("[ -<>-~]+", value):
        return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
    return []


def config_map_key_errors(value: str) -> list[str]:
    """Check a key of a ConfigMap or Secret, which becomes a file name."""
    reasons = _too_long(value, 253)
    if not re.fullmatch(_CONFIG_KEY, value):
        reasons.append(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
            f"{_such_as(_CONFIG_KEY, 'key.name', 'KEY_NAME', 'key-name')}"
        )
    return reasons + _leads_upwards(value)


def port_name_errors(value: str) -> list[str]:
    """Check a port name (IANA service names, in lowercase)."""
    reasons = _too_long(value, 15)
    if not re.fullmatch("[-a-z0-9]+", value):
        reasons.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        reasons.append("must contain at least one letter (a-z)")
    if "--" in value:
        reasons.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        reasons.append("must not begin or end with a hyphen")
    return reasons


def domain_prefixed_path_errors(value: str) -> list[str]:
    """Check a controller name, as in managedBy: a domain, a slash and a path. An empty text is reported as required."""
    if not value:
        return ["Required value"]
    domain, _, path = value.partition("/")
    if not domain or not path:
        return ['must be a domain-prefixed path (such as "acme.io/foo")']
    reasons = [*dns1123_subdomain_errors(domain)]
    if not re.fullmatch(_PATH, path):
        reasons.append(f"Invalid path (regex used for validation is '{_PATH}')")
    return reasons


def _subdomain(value: str, unit: str) -> list[str]:
    reasons = _too_long(value, 253, unit)
    if not re.fullmatch(_SUBDOMAIN, value):
        reasons.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            f"and must start and end with an alphanumeric character {_such_as(_SUBDOMAIN, 'example.com')}"
        )
    return reasons


def _too_long(value: str, most: int, unit: str = "characters") -> list[str]:
    if len(value.encode("utf-8", "surrogatepass")) <= most:
        return []
    return [f"must be no more than {most} {unit}"]


def _leads_upwards(value: str) -> list[str]:
    """Reject names that a file system resolves to the current or parent directory."""
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def _such_as(pattern: str, *examples: str) -> str:
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"(e.g. {shown}, regex used for validation is '{pattern}')"


_QUALIFIED_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    + _such_as(_QUALIFIED, "MyName", "my.name", "123-abc")
)


LABEL: Final = "a-z0-9-"
"""The characters of a DNS label."""
SUBDOMAIN: Final = "a-z0-9.-"
QUALIFIED: Final = "A-Za-z0-9._-"
"""The characters of a label value, and of a label key without its prefix."""

_LONGEST_EXAMPLE: Final = 40
"""A longer name may leave no room for the suffixes of the names of Jobs and pods."""
_MANY: Final = 4
"""The maximum number of invalid characters to list."""


def fault(text: str, characters: str, most: int) -> str:
    """Return the reason why a name is invalid, to follow `which`: `contains "_"`."""
    if invalid := _invalid_characters(text, characters):
        return f"contains {listed(invalid)}"
    if len(text) > most:
        return f"has {len(text)} characters, but must have at most {most}"
    if not text:
        return "is empty"
    for verb, end in (("starts", text[0]), ("ends", text[-1])):
        if not end.isalnum():
            return f"{verb} with {shown(end)}"
    return "has a dot next to another dot or a dash"


def fault_of_key(key: str) -> str:
    """Return the reason why the key of a label or annotation is invalid, to follow `which`."""
    domain, slash, name = key.rpartition("/")
    if "/" in domain:
        return 'contains more than one "/"'
    if slash and not (domain and name):
        return f'has no {"prefix before" if name else "name after"} its "/"'
    if slash and not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", domain):
        return f"has the prefix {shown(domain)}, which is not a valid domain"
    return fault(name, QUALIFIED, 63)


def example(text: str, *, letter_first: bool = False) -> str:
    """Return a clause with a similar name that is valid for most objects; empty if there is none."""
    result = re.sub("[^a-z0-9]+", "-", text.lower())
    if letter_first and result[:1].isdigit():
        result = f"job-{result}"
    result = result.strip("-")
    return f"; for example {result}" if result and text.isascii() and len(result) <= _LONGEST_EXAMPLE else ""


def _invalid_characters(text: str, characters: str) -> list[str]:
    """Return the characters that are not allowed in a name, as shown in a message."""
    found = dict.fromkeys(re.findall(f"[^{characters}]", text))
    words = dict.fromkeys("uppercase letters" if "A" <= c <= "Z" else "spaces" if c == " " else shown(c) for c in found)
    return list(words)[:_MANY]
