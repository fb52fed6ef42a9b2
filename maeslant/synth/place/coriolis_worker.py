# SPDX-License-Identifier: Apache-2.0
"""Places standard cells by Coriolis' placer, Etesian: a program of its own, see placer.py.

usage: coriolis_worker.py PROBLEM PLACES

PROBLEM: JSON, see placer.Problem. PLACES: a line for each cell, in the problem's order: x and y of
its lower left corner in µm, and its orientation (ID, MY, MX, R2). Lengths are in µm. Coriolis'
own names of cells and nets are numbers, so that no name needs quoting.
"""

import json
import sys

from coriolis import Cfg, Etesian
from coriolis.Anabatic import StyleFlags
from coriolis.CRL import (
    AllianceFramework,
    CellGauge,
    RoutingGauge,
    RoutingLayerGauge,
    System,
)
from coriolis.helpers.overlay import CfgCache
from coriolis.helpers.technology import createBL
from coriolis.Hurricane import (
    BasicLayer,
    Box,
    Cell,
    DataBase,
    DbU,
    Horizontal,
    Instance,
    Library,
    Net,
    NetExternalComponents,
    Pin,
    Technology,
    Transformation,
    UpdateSession,
)

# The placer measures rows in steps of the cell gauge, and the row's height has to be a multiple of
# the step: a hundredth of a µm is a divisor of height and site. legal.py finds the sites.
STEP = 0.01
GRID = 0.0025
METALS = 3  # the placer wants a routing gauge; nothing is routed


def unit(um: float) -> int:
    """Returns a length in µm in the database's unit."""
    return DbU.fromPhysical(um, DbU.UnitPowerMicro)


def technology(row: float) -> tuple[Technology, AllianceFramework]:
    """Creates the technology's database: metals without vias, and the height of a row."""
    database = DataBase.create()
    System.get()
    made = Technology.create(database, "cells")
    DbU.setPrecision(2)
    DbU.setPhysicalsPerGrid(GRID, DbU.UnitPowerMicro)
    DbU.setGridsPerLambda(10)
    DbU.setSymbolicSnapGridStep(DbU.fromGrid(1.0))
    DbU.setPolygonStep(DbU.fromGrid(1.0))
    DbU.setStringMode(DbU.StringModePhysical, DbU.UnitPowerMicro)
    kinds = BasicLayer.Material
    for number in range(1, METALS + 1):
        metal = createBL(made, f"metal{number}", kinds.metal, size=unit(0.07), spacing=unit(0.07))
        metal.setBlockageLayer(createBL(made, f"blockage{number}", kinds.blockage))
    for name in ("text.cell", "text.instance", "SPL1", "AutoLayer"):
        createBL(made, name, kinds.other)
    for name, kind in (
        ("gmetalh", kinds.metal),
        ("gcontact", kinds.cut),
        ("gmetalv", kinds.metal),
    ):
        createBL(made, name, kind)
    frame, gauge = AllianceFramework.get(), RoutingGauge.create("cells")
    gauge.setSymbolic(False)
    for number in range(METALS):
        ways = (RoutingLayerGauge.Vertical, RoutingLayerGauge.Horizontal)
        use = RoutingLayerGauge.Default if number else RoutingLayerGauge.PinOnly
        sizes = [unit(um) for um in (0.07, 0.14, 0.07, 0.07, 0.07, 0.0)]
        layer = made.getLayer(f"metal{number + 1}")
        gauge.addLayerGauge(
            RoutingLayerGauge.create(layer, ways[number % 2], use, number, 0.0, *sizes)
        )
    frame.addRoutingGauge(gauge)
    frame.setRoutingGauge("cells")
    frame.addCellGauge(CellGauge.create("cells", "metal1", unit(STEP), unit(row), unit(STEP)))
    frame.setCellGauge("cells")
    names = frame.getEnvironment()
    names.setRegister("none")
    names.setCLOCK("^none$")
    names.setPOWER("VDD")
    names.setGROUND("VSS")
    return made, frame


def configure(settings: dict[str, object]) -> None:
    """Sets Coriolis' parameters: what it needs to begin at all, and the placer's settings."""
    fixed = {
        "misc.catchCore": False,
        "misc.verboseLevel1": False,
        "misc.verboseLevel2": False,
        "misc.logMode": False,
        "misc.info": False,
        "misc.bug": False,
        "misc.minTraceLevel": 100000,  # above the greatest: otherwise megabytes of traces
        "misc.maxTraceLevel": 0,
        "crlcore.groundName": "VSS",
        "crlcore.powerName": "VDD",
        "lefImport.minTerminalWidth": 0.0,
        "viewer.minimumSize": 500,
        "viewer.pixelThreshold": 2,
        "chip.padCoreSide": "South",
        "etesian.bloat": "disabled",
        "etesian.aspectRatio": 1.0,
        "etesian.spaceMargin": 0.3,
        "etesian.uniformDensity": True,
        "etesian.routingDriven": False,
        "etesian.feedNames": "none",
        "etesian.defaultFeed": "none",
        "etesian.latchUpDistance": 0,
        "etesian.antennaGateMaxWL": 0,
        "etesian.antennaDiodeMaxWL": 0,
        "etesian.cell.zero": "none",
        "etesian.cell.one": "none",
        "etesian.graphics": 3,
        "anabatic.routingGauge": "cells",
        "anabatic.cellGauge": "cells",
        "anabatic.globalLengthThreshold": 1450,
        "anabatic.saturateRatio": 0.9,
        "anabatic.saturateRp": 10,
        "anabatic.topRoutingLayer": f"metal{METALS}",
        "anabatic.netBuilderStyle": "HV,3RL+",
        "anabatic.routingStyle": StyleFlags.HV,
    }
    with CfgCache(priority=Cfg.Parameter.Priority.ConfigurationFile) as cache:
        for name, value in {**fixed, **settings}.items():
            *path, last = name.split(".")
            place = cache
            for word in path:
                place = getattr(place, word)
            setattr(place, last, value)


def masters(kinds: dict[str, list], metal: object, library: Library, row: float) -> list[Cell]:
    """Creates the kinds of cells: their outlines, and a spot of metal for each pin."""
    made = []
    for name, (width, pins) in kinds.items():
        cell = Cell.create(library, name)
        cell.setAbutmentBox(Box(unit(0), unit(0), unit(width), unit(row)))
        cell.setTerminalNetlist(True)
        for pin, (way, x, y) in pins.items():
            net = Net.create(cell, pin)
            net.setExternal(True)
            net.setDirection(Net.Direction.IN if way == "in" else Net.Direction.OUT)
            spot = Horizontal.create(
                net, metal, unit(y), unit(0.07), unit(x - 0.035), unit(x + 0.035)
            )
            NetExternalComponents.setExternal(spot)
        made.append(cell)
    return made


def ports(problem: dict, cell: Cell, nets: list[Net], metal: object) -> None:
    """Creates the design's pins at the edge of the core."""
    width, height = problem["core"]
    for number, (index, way, x, y) in enumerate(problem["ports"]):
        net = nets[index]
        net.setExternal(True)
        net.setDirection(Net.Direction.IN if way == "in" else Net.Direction.OUT)
        sides = ((y, Pin.Direction.SOUTH), (width - x, Pin.Direction.EAST))
        sides += ((height - y, Pin.Direction.NORTH), (x, Pin.Direction.WEST))
        side = min(sides, key=lambda pair: pair[0])[1]
        place = (unit(x), unit(y), unit(0.07), unit(0.07))
        name, fixed = f"p{number}", Pin.PlacementStatus.FIXED
        pin = Pin.create(net, name, side, fixed, metal, *place)
        NetExternalComponents.setExternal(pin)


def main(source: str, target: str) -> None:
    """Places the cells of a problem."""
    with open(source) as file:
        problem = json.load(file)
    row = problem["row"]
    made, frame = technology(row)
    configure(problem["settings"])
    database = DataBase.getDB()
    library = Library.create(database.getRootLibrary(), "cells")
    frame.wrapLibrary(library, 0)
    metal = made.getLayer("metal2")
    UpdateSession.open()
    kinds = masters(problem["kinds"], metal, library, row)
    UpdateSession.close()
    top = frame.createCell("design")
    width, height = problem["core"]
    UpdateSession.open()
    top.setAbutmentBox(Box(unit(0), unit(0), unit(width), unit(height)))
    for name, kind in (("VDD", Net.Type.POWER), ("VSS", Net.Type.GROUND)):
        supply = Net.create(top, name)
        supply.setExternal(True)
        supply.setGlobal(True)
        supply.setType(kind)
    nets = [Net.create(top, f"n{number}") for number in range(problem["nets"])]
    cells = []
    for number, (kind, pins) in enumerate(problem["cells"]):
        cell = Instance.create(top, f"c{number}", kinds[kind])
        for pin, net in pins.items():
            cell.getPlug(kinds[kind].getNet(pin)).setNet(nets[net])
        cells.append(cell)
    ports(problem, top, nets, metal)
    UpdateSession.close()
    top.flattenNets(None, [], top.Flags_NoClockFlatten)
    placer = Etesian.EtesianEngine.create(top)
    placer.setPlaceArea(Box(unit(0), unit(0), unit(width), unit(height)))
    placer.place()
    placer.clearColoquinte()
    names = {getattr(Transformation.Orientation, n): n for n in ("ID", "MY", "MX", "R2")}
    with open(target, "w") as file:
        for cell in cells:
            box = cell.getAbutmentBox()
            x, y = (DbU.toPhysical(at, DbU.UnitPowerMicro) for at in (box.getXMin(), box.getYMin()))
            turned = names[cell.getTransformation().getOrientation()]
            file.write(f"{x:.4f} {y:.4f} {turned}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
