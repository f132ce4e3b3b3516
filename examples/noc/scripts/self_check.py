"""Asks Tepat's API whether it is ready. TEPAT_API, or else TEPAT_URL, says where; by default 127.0.0.1:8080."""

import os
import sys
import urllib.error
import urllib.request


def main() -> int:
    base = os.environ.get("TEPAT_API") or os.environ.get("TEPAT_URL") or "http://127.0.0.1:8080"
    url = f"{base.rstrip('/')}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=4) as answer:
            print(f"{url}: {answer.status} {answer.read(500).decode('utf-8', 'replace')}")
    except urllib.error.HTTPError as error:
        print(f"{url}: {error.code} {error.read(500).decode('utf-8', 'replace')}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
