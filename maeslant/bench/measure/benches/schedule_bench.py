# SPDX-License-Identifier: Apache-2.0
"""Records timing diagrams of the GCM engines in simulation (cocotb), for the documentation.

Each schedule becomes a WaveDrom timing diagram, appended as a JSON line to the file named by
MAESLANT_SCHEDULES: {"name", "diagram"}. A lane of the diagram has a label where something is valid,
or is one bit; messages are A, B, ... and their beats A0, A1, ...
"""

import json
import os

import cocotb

from maeslant.bench.measure.benches import beat_bench, gcm_bench
from maeslant.build import cocotb_bench

COLOURS = {"A": "3", "B": "4", "C": "5"}  # of messages


class Record:
    """Holds the signals of one WaveDrom timing diagram."""

    def __init__(self) -> None:
        self.lanes: dict[str, list] = {}

    def add(self, name: str, value: str | bool | None) -> None:
        """Adds a signal's value in one clock to the timing diagram: a label, a bit or nothing."""
        self.lanes.setdefault(name, []).append(value)

    def write(self, name: str, title: str, groups: list[list[str]]) -> None:
        """Writes the timing diagram as WaveDrom JSON, its signals in named groups."""
        clock = {"name": "clk_i", "wave": "p" + "." * self._clocks()}
        signal: list = [clock]
        for group, *lanes in groups:
            drawn = [self._lane(lane) for lane in lanes]
            signal += [[group, *drawn]] if group else drawn
        head = {"text": title, "tick": -1}  # a clock before the first thing that happens
        with open(os.environ["MAESLANT_SCHEDULES"], "a") as file:
            file.write(json.dumps({"name": name, "diagram": {"signal": signal, "head": head}}))
            file.write("\n")

    def _clocks(self) -> int:
        """Returns how many clocks the timing diagram shows: two past its last event."""
        lanes = [lane for lane in self.lanes.values() if not isinstance(lane[0], bool)]
        return 3 + max(i for lane in lanes for i, value in enumerate(lane) if value)

    def _lane(self, name: str) -> dict[str, object]:
        """Returns a recorded signal as a line of the WaveDrom timing diagram."""
        values = self.lanes[name][: self._clocks()]
        values.insert(0, values[0] if isinstance(values[0], bool) else None)
        wave, data = "", []
        for before, value in zip([object(), *values[:-1]], values, strict=True):
            if value == before:
                wave += "."
            elif isinstance(value, bool):
                wave += str(int(value))
            elif value is None:
                wave += "x"
            else:
                wave += COLOURS.get(value[0], "7")
                data.append(value.split()[-1])
        return {"name": name, "wave": wave} | ({"data": data} if data else {})


class MessageRecorder:
    """Records in which clocks mae_gcm_stream processes the parts of given messages."""

    def __init__(self, engine: gcm_bench.Engine, messages: dict[str, gcm_bench.Message]) -> None:
        self.engine, self.record = engine, Record()
        self.names = {id(message): name for name, message in messages.items()}
        self.ins: list[str] = []
        self.rows: list[str] = []
        for name, message in messages.items():
            row = engine.row
            aad, data = -(-len(message.aad) // row), -(-len(message.data) // row)
            self.rows += [f"{name}{i}" for i in range(data)]
            self.ins += [f"{name} aad"] * aad
            self.ins += [f"{name}{i}" for i in range(data)]
        self.outs, self.tags = list(self.rows), list(messages)
        self.masks = list(messages)
        engine.watch = self.see

    def see(self, offered: bool) -> None:
        """Adds the values of mae_gcm_stream's signals in one clock to the timing diagram."""
        dut, record, engine = self.engine.dut, self.record, self.engine

        def high(name: str, bit: int = 0) -> bool:
            return bool(int(getattr(dut, name).value) >> bit & 1)

        key = engine.key_offer and high("key_ready_o")
        record.add("key", "key" if key else None)
        taken = engine.messages and high("msg_ready_o")
        record.add("announced", self.names.get(id(engine.messages[0])) if taken else None)
        record.add("H", "H" if high("h_valid") else None)
        record.add("its powers", high("hash_ready"))
        waits = high("row_valid")
        record.add("keystream", self.rows[0] if waits and self.rows else None)
        if waits and high("row_ready"):
            self.rows.pop(0)
        record.add("E(K, J0)", self.masks[0] if high("mask_valid") and self.masks else None)
        record.add("in", self.ins[0] if offered else None)
        record.add("in_ready_o", high("in_ready_o"))
        if offered and high("in_ready_o"):
            self.ins.pop(0)
        record.add("out", self.outs.pop(0) if high("out_valid_o") else None)
        tag = high("tag_valid_o")
        record.add("tag", self.tags.pop(0) if tag else None)
        if tag:
            self.masks.pop(0)


AHEAD_LANES = ["ahead", "keystream", "E(K, J0)"]
BEAT_LANES = ["beats", "in", "in_ready_o", "out"]


@cocotb.test(timeout_time=2, timeout_unit="ms", skip="Lanes" not in cocotb_bench.parameters())
async def stream(dut) -> None:
    """Writes timing diagrams of mae_gcm_stream processing one message, and two under two keys."""
    engine = gcm_bench.Engine(dut)
    await engine.start()
    engine.key(0, 128)
    recorder = MessageRecorder(engine, {"A": engine.message(0, 1, 2)})
    await engine.run()
    groups = [["keys", "key", "H", "its powers"], ["", "announced"]]
    title = f"mae_gcm_stream, {engine.lanes} lanes, AES-128: a key and a short message"
    rest = [AHEAD_LANES, BEAT_LANES, ["", "tag"]]
    recorder.record.write("mae_gcm_stream-short", title, groups + rest)
    engine.watch = None
    engine.key(1, 128)
    engine.message(1, 0, 0)
    await engine.run()
    messages = {"A": engine.message(0, 0, 3), "B": engine.message(1, 1, 2)}
    recorder = MessageRecorder(engine, messages)
    await engine.run()
    title = f"mae_gcm_stream, {engine.lanes} lanes, AES-128: two messages under two loaded keys"
    recorder.record.write("mae_gcm_stream-two", title, [["", "announced"], *rest])


@cocotb.test(timeout_time=2, timeout_unit="ms", skip="Lanes" in cocotb_bench.parameters())
async def words(dut) -> None:
    """Writes timing diagrams of mae_gcm_single, or of mae_gcm_prefetch."""
    drive = beat_bench.Words(dut)
    await drive.start()
    record = Record()
    asked: list[str] = []
    name: str | None = None

    def see() -> None:
        """Adds the values of the GCM core's signals in one clock to the timing diagram."""
        taken = int(dut.req_valid_i.value)
        if beat_bench.AHEAD:
            loads = int(dut.load_valid_i.value) and int(dut.load_ready_o.value)
            record.add("load", "key" if loads else None)
            record.add("value waits", bool(int(dut.waits.value) & 1))
            taken = taken and int(dut.req_ready_o.value)
        record.add("request", name if taken else None)
        if taken:
            asked.append(name)
        if not beat_bench.AHEAD:
            record.add("rounds done", bool(int(dut.valid.value)))
        record.add("answer", asked.pop(0) if int(dut.rsp_valid_o.value) else None)

    drive.watch = see
    if beat_bench.AHEAD:
        await beat_bench.load(drive, 0, 128)
        for letter in "ABC":
            name = letter
            while not await beat_bench.ask(drive, 0):
                pass
        title = "mae_gcm_prefetch, keys up to AES-256: a key, and messages of its stream"
        lanes = ["load", "value waits", "request", "answer"]
    else:
        for number, letter in enumerate("ABC"):
            name = letter
            key, iv = drive.random.randbytes(16), drive.random.randbytes(12)
            message, answer = drive.word(key, iv, False)
            dut.key_i.value = int.from_bytes(key + bytes(16) + iv, "big")
            dut.msg_i.value, dut.req_valid_i.value = message, 1
            await drive.step()
            drive.asked.append((number, answer))
        title = "mae_gcm_single, AES-128: three words, each with a key of its own"
        lanes = ["request", "rounds done", "answer"]
    await drive.idle(30)
    assert not asked
    record.write(f"{dut._name}-words", title, [["", *lanes]])
