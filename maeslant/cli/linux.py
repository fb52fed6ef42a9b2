# SPDX-License-Identifier: Apache-2.0
"""Defines the command that runs Linux in QEMU with a simulated card."""

import pathlib
from typing import Annotated

import typer

from maeslant.cli.common import app
from maeslant.errors import MaeslantError


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
    check: Annotated[
        bool, typer.Option("--check", help="Check the driver and the card in several guests.")
    ] = False,
    size: Annotated[
        int, typer.Option("--bytes", min=1000, help="Bytes of each mode in --check.")
    ] = 20000003,
) -> None:
    """Run Linux in QEMU with a simulated card as its PCI function, or check the driver there.

    In the guest, $CARD is the card's URI; card_check compares it with OpenSSL, card_load
    keeps it busy. Without vfio-pci $CARD is its PCI address. The first use downloads 65 MB of
    Debian packages.
    """
    from maeslant.guest import checks, machine

    if check:
        if any((command, card, msix, put, kvm, uio, media, media_size, not iommu, not vfio)):
            raise MaeslantError("--check takes --device and --bytes only")
        wrong = checks.run(device, size, lambda text: print(text, flush=True))
        print("\n".join(wrong) if wrong else "all checks passed")
        if wrong:
            raise typer.Exit(1)
        return
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
    )
    result = machine.run(
        command or None,
        options,
        programs=checks.programs(device),
        files={path.name: path.read_bytes() for path in put or ()},
        show=True,
    )
    raise typer.Exit(result.code)
