# SPDX-License-Identifier: Apache-2.0
"""Runs the formal proofs of RTL modules in formal/ and writes docs/proofs.md.

``--write`` only writes the page; ``--check`` sees that it is as the list; names choose some proofs.
"""

import argparse
import sys
import time

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.verify.prove import independence, proofs


def main() -> int:
    """Runs the formal proofs that the command line names; prints those that fail."""
    parser = argparse.ArgumentParser(prog="python -m maeslant.verify.prove", description=__doc__)
    parser.add_argument("name", nargs="*", help="proof to run; all by default")
    parser.add_argument("--write", action="store_true", help="write docs/proofs.md and stop")
    parser.add_argument("--check", action="store_true", help="check that docs/proofs.md is current")
    arguments = parser.parse_args()
    if arguments.write:
        paths.write(proofs.PAGE, proofs.page())
        return 0
    if arguments.check:
        return proofs.PAGE.read_text() != proofs.page() and "docs/proofs.md is not as its list"
    failed = False
    for proof in [*proofs.load(), *independence.load()]:
        if arguments.name and proof.name not in arguments.name:
            continue
        start = time.time()
        try:
            said = proof.run()
        except MaeslantError as error:
            said = str(error)
        failed |= bool(said)
        print(f"{proof.name}: {said or 'proved'} ({time.time() - start:.1f} s)", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
