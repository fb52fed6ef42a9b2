# SPDX-License-Identifier: Apache-2.0
"""Records and draws timing diagrams of the GCM engines to docs/schedules.

maeslant/bench/measure/benches/schedule_bench.py drives the engines and records them. Each diagram
is kept as WaveDrom's JSON and drawn as SVG; the module's page shows it (tools/gen_docs.py).
`--check` draws again what is kept and fails when a picture differs;
tests/tools/test_gen_schedules.py also records again.
"""

import json
import pathlib
import sys
import tempfile

import wavedrom

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.build import cocotb_bench

OUT = paths.ROOT / "docs" / "schedules"
BENCH = "maeslant.bench.measure.benches.schedule_bench"
# The modules and their parameters, which are those of a test, so that the builds are shared.
ENGINES = {
    "mae_gcm_stream": {"Lanes": 4, "KeyBanks": 2},
    "mae_gcm_single": {"MaxKeyLen": 0},
    "mae_gcm_prefetch": {"Streams": 5, "Ahead": 3, "MaxKeyLen": 2},
}


def record(top: str) -> dict[str, dict]:
    """Simulates a GCM engine; returns the timing diagrams as WaveDrom JSON by name."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        environment = {"MAESLANT_SCHEDULES": file.name}
        cocotb_bench.simulate(top, BENCH, parameters=ENGINES[top], env=environment)
        return {line["name"]: line["diagram"] for line in map(json.loads, file)}


def draw(diagram: dict) -> str:
    """Returns a WaveDrom timing diagram drawn as SVG."""
    svg = wavedrom.render(json.dumps(diagram)).tostring()
    white = '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>'
    return svg.replace("</defs>", f"</defs>{white}", 1) + "\n"


def files(diagrams: dict[str, dict]) -> dict[pathlib.Path, str]:
    """Returns the files of docs/schedules by path: each timing diagram as JSON and as SVG."""
    found = {}
    for name, diagram in diagrams.items():
        found[OUT / f"{name}.json"] = json.dumps(diagram, indent=1) + "\n"
        found[OUT / f"{name}.svg"] = draw(diagram)
    return found


def main() -> int:
    """Writes the GCM engines' timing diagrams; with --check only checks that SVGs match JSON."""
    if "--check" in sys.argv:
        kept = {path.stem: json.loads(path.read_text()) for path in sorted(OUT.glob("*.json"))}
        wanted = files(kept)
        names = [*wanted, *(path for path in OUT.glob("*.svg") if path not in wanted)]
        stale = [
            p for p in names if p not in wanted or not p.exists() or p.read_text() != wanted[p]
        ]
        for path in stale:
            print(f"{path.relative_to(paths.ROOT)} is stale; run: tools/gen_schedules.py")
        return 1 if stale or not kept else 0
    OUT.mkdir(exist_ok=True)
    for top in ENGINES:
        for path, text in files(record(top)).items():
            paths.write(path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
