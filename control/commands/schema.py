"""`tepat schema`: the JSON Schema of a whole file, for editors. Always JSON, so `--json` changes nothing."""

import json
from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat schema`."""
    parser.add_argument("--json", action="store_true", help="accepted for uniformity: the output is always JSON")


def run(_arguments: Namespace) -> int:
    """Print the schema."""
    from slo.objectives import json_schema

    print(json.dumps(json_schema(), indent=2, sort_keys=True))
    return 0
