"""The schemas of manifests and journal records."""

from __future__ import annotations

from typing import Any

from cmerl.errors import InputError
from cmerl.experiments.units import Unit, check_header
from cmerl.validation.schema import check_names, either, flag, items, number, one_of, plain, table, text, whole

_OR_NONE = either(one_of(None), number(-1e300, 1e300))
LINE = {
    "env": text(),
    "agent": text(),
    "seed": whole(0, 2**63 - 1),
    "episode": whole(0, 2**53),
    "return": number(-1e300, 1e300),
    "length": whole(0, 10**6),
    "regret": either(one_of(None), number(-1e300, 1e300)),
    "regret_kind": one_of(None, "policy", "gaps", "monte-carlo"),
    "seconds": number(0.0),
    "metrics": plain(),
}
MANIFEST = {
    "versions": plain(depth=1, most=1000),
    "seeds": items(whole(0, 2**63 - 1), 1, 10**6),
    "command": text(r"(?s).{0,100000}"),
    "created": text(),
    "blas": plain(depth=3, most=1000),
    "threads": whole(1, 10**4),
    "jitter": either(one_of(None), number(0.0)),
}


ESTIMATE = either(one_of(None), table(mean=number(-1e300, 1e300), low=_OR_NONE, high=_OR_NONE))
RESULT = {
    "env": text(),
    "agent": text(),
    "seeds": whole(0, 10**6),
    "episodes": whole(0, 2**53),
    "episodes_total": whole(0, 2**63),
    "return": ESTIMATE,
    "cumulative_regret": ESTIMATE,
    "best_return": _OR_NONE,
    "seconds_per_episode": _OR_NONE,
}


def _result(value: Any, place: str) -> None:
    certified = isinstance(value, dict) and "certified_regret" in value  # not in the summaries of cmerl 0.1
    table(**RESULT, **({"certified_regret": ESTIMATE} if certified else {}))(value, place)


FAILURE = {"env": text(), "agent": text(), "seed": whole(0, 2**63 - 1), "message": text(r"(?s).{0,100000}")}


def _failure(value: Any, place: str) -> None:
    told = isinstance(value, dict) and "where" in value  # not in the summaries of cmerl 0.2
    more = {"episodes": whole(0, 2**53), "where": text(r"(?s).{0,100000}")} if told else {}
    table(**FAILURE, **more)(value, place)


SUMMARY = table(
    finished=flag,
    units=plain(depth=1, most=100),
    failures=items(_failure, most=10**6),
    results=items(_result, most=10**6),
)


def check_summary(summary: dict[str, Any], place: str) -> None:
    """Refuse a summary that is not what a run writes."""
    SUMMARY(summary, f"{place}: the summary")


def check_manifest(manifest: dict[str, Any], place: str) -> None:
    """Refuse a manifest whose fields are not what they should be; ``spec`` is checked where it is parsed."""
    for key, schema in MANIFEST.items():
        if key in manifest:
            schema(manifest[key], f"{place}: {key}")
    versions = manifest.get("versions", {})
    if not isinstance(versions, dict) or not all(isinstance(value, str) for value in versions.values()):
        raise InputError(f"{place}: versions must name a version for each package")


def check_records(unit: Unit, records: list[Any]) -> list[dict[str, Any]]:
    """The records after the first, which must say that they belong to this unit, and be its episodes in order."""
    if not records:
        return []
    for i, record in enumerate(records):
        if not isinstance(record, dict) or not all(isinstance(key, str) for key in record):
            raise InputError(f"record {i} is not a table")
    check_header(unit, records[0])
    for i, record in enumerate(records[1:]):
        if "report" in record:
            if i != len(records) - 2:
                raise InputError(f"record {i + 1} is the last one, but others follow")
            _check_report(record["report"])
        else:
            _check_episode(unit, i, record)
    return records[1:]


def _check_episode(unit: Unit, i: int, record: dict[str, Any]) -> None:
    check_names(record, {"line": 0, "lesson": 0}, f"record {i + 1}", ["snapshot"])
    table(**LINE)(record["line"], f"episode {i}")
    line = record["line"]
    if (line["env"], line["agent"], line["seed"]) != unit.key or line["episode"] != i or i >= unit.episodes:
        raise InputError(f"record {i + 1} is not episode {i} of {unit.title}")
    if not isinstance(line["metrics"], dict) or not isinstance(record["lesson"], dict):
        raise InputError(f"record {i + 1} must have metrics and a lesson that are tables")
    for name in ("certified_regret", "certified_most"):  # summaries and ledgers go on from these
        _OR_NONE(line["metrics"].get(name), f"episode {i}: {name}")


def _check_report(report: Any) -> None:
    plain()(report, "the report")
    if not isinstance(report, dict) or not isinstance(report.get("diagnostics", {}), dict):
        raise InputError("the report must be a table")
    number(0.0)(report.get("jitter") or 0.0, "the report's jitter")
