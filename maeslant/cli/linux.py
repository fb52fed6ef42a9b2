# SPDX-License-Identifier: Apache-2.0
"""Defines the command that runs Linux in QEMU with a simulated card."""

import dataclasses
import json
import pathlib
import sys
from typing import Annotated

import typer

from maeslant.cli.common import JsonOption, app
from maeslant.errors import MaeslantError

BYTES = 20000003  # of each mode in --check


def _check(
    device: str, size: int, names: list[str] | None, fio_seconds: int | None, as_json: bool
) -> None:
    """Runs the checks of a card and prints the outcomes; raises Exit if one has failed."""
    from maeslant.guest import checks

    def say(text: str) -> None:
        print(text, file=sys.stderr if as_json else sys.stdout, flush=True)

    outcomes = checks.run(device, size, say, names or (), fio_seconds)
    wrong = [f"{outcome.name}: {outcome.problem}" for outcome in outcomes if outcome.problem]
    if as_json:
        print(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes], indent=1))
    else:
        print("\n".join(wrong) if wrong else "all checks passed")
    if wrong:
        raise typer.Exit(1)


@app.command()
def linux(
    command: Annotated[
        str, typer.Argument(metavar="[COMMAND]", help="Shell command for the guest; none: a shell.")
    ] = "",
    device: Annotated[
        str, typer.Option("--device", help="Named build that is the card.")
    ] = "stream4",
    card: Annotated[
        str, typer.Option("--card", help="Options of the simulated card, as in latency=50-300.")
    ] = "",
    iommu: Annotated[
        bool, typer.Option("--iommu/--no-iommu", help="Give the guest an IOMMU.")
    ] = True,
    msix: Annotated[bool, typer.Option("--msix", help="Leave the card MSI-X alone.")] = False,
    kvm: Annotated[
        bool, typer.Option("--kvm", help="Use the processor's virtualization (/dev/kvm).")
    ] = False,
    put: Annotated[
        list[pathlib.Path] | None,
        typer.Option("--put", help="File for the guest's /root; may be repeated."),
    ] = None,
    vfio: Annotated[
        bool,
        typer.Option("--vfio/--no-vfio", help="Bind the card to vfio-pci, or leave it unbound."),
    ] = True,
    uio: Annotated[
        bool,
        typer.Option("--uio", help="Bind the card to uio_pci_generic, in a guest without IOMMU."),
    ] = False,
    media: Annotated[
        pathlib.Path | None,
        typer.Option("--media", help="File for a block card's media; created if missing."),
    ] = None,
    media_size: Annotated[
        int | None,
        typer.Option("--media-size", help="Bytes of the media, a power of two.", min=1),
    ] = None,
    kernel: Annotated[
        pathlib.Path | None,
        typer.Option("--kernel", help="Kernel (bzImage) in the place of Debian's."),
    ] = None,
    modules: Annotated[
        pathlib.Path | None,
        typer.Option("--modules", help="Folder of the kernel's modules; none: all is built in."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the driver and the card in several guests.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="A check to run alone; may be repeated."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--bytes", min=1000, help=f"Bytes of each mode in --check ({BYTES})."),
    ] = None,
    fio_seconds: Annotated[
        int | None,
        typer.Option(
            "--fio-seconds", min=1, help="Seconds of fio's writes in the check kernel-resets."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run Linux in QEMU with a simulated card as its PCI function, or check the driver there.

    In the guest, $CARD is the card's URI; card_check compares it with OpenSSL, card_load
    keeps it busy. Without vfio-pci $CARD is its PCI address. The first use downloads 65 MB of
    Debian packages.
    """
    from maeslant.guest import checks, machine

    if check:
        others = (command, card, msix, put, kvm, uio, media, media_size, kernel, modules)
        if any((*others, not iommu, not vfio)):
            raise MaeslantError(
                "--check takes --device, --only, --bytes, --fio-seconds and --json only"
            )
        _check(device, size or BYTES, only, fio_seconds, as_json)
        return
    if any((only, size, fio_seconds, as_json)):
        raise MaeslantError("--only, --bytes, --fio-seconds and --json belong to --check")
    if modules and not kernel:
        raise MaeslantError("--modules are of the kernel that --kernel names; give both")
    if uio and not vfio:
        raise MaeslantError("--uio binds the card, --no-vfio leaves it unbound; give one of them")
    options = machine.Options(
        device=device,
        card_options=card,
        iommu=iommu and not uio,
        uio=uio,
        msi=not msix,
        accelerator="kvm" if kvm else "tcg",
        vfio=vfio,
        media=media,
        media_size=media_size,
        kernel=kernel,
        modules=modules,
    )
    result = machine.run(
        command or None,
        options,
        programs=checks.programs(device),
        files={path.name: path.read_bytes() for path in put or ()},
        show=True,
    )
    raise typer.Exit(result.code)
