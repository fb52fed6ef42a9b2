// SPDX-License-Identifier: Apache-2.0
"use strict";
// What the pointer is on, what is pinned, which points fit the wishes, and the table's order.
const known = JSON.parse(document.getElementById("records").textContent);
const tip = document.getElementById("tip");
const points = [...document.querySelectorAll(".point[data-of]")];
const rows = new Map([...document.querySelectorAll("tr[data-of]")].map((r) => [r.dataset.of, r]));
const write = (value) =>
  value === undefined ? "" : value >= 1000 ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(4)));

const FACTS = [
  ["area", (r) => [r.kge && `${write(r.kge)} kGE`, r.mm2 && `${write(r.mm2)} mm²`,
    r.lut && `${write(r.lut)} LUTs`].filter(Boolean).join(", ")],
  ["clock", (r) => r.mhz && `${write(r.mhz)} MHz`],
  ["throughput", (r) => r.gbps && `${write(r.gbps)} Gbit/s`],
  ["bits a clock", (r) => r.bits && write(r.bits)],
  ["latency", (r) => [r.latency_clocks && `${write(r.latency_clocks)} clocks`,
    r.latency_ns && `${write(r.latency_ns)} ns`].filter(Boolean).join(", ")],
  ["power", (r) => r.mw && `${write(r.mw)} mW` + (r.power_mhz ? ` at ${write(r.power_mhz)} MHz` : "")],
  ["energy", (r) => r.pj && `${write(r.pj)} pJ a block`],
  ["area efficiency", (r) => r.gbps_per_mm2 && `${write(r.gbps_per_mm2)} Gbit/s/mm²`],
  ["energy efficiency", (r) => r.gbps_per_w && `${write(r.gbps_per_w)} Gbit/s/W`],
];

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function show(point) {
  const record = known[point.dataset.of];
  if (!record) return;
  const table = element("table");
  for (const [name, fact] of FACTS) {
    const value = fact(record);
    if (!value) continue;
    const row = table.insertRow();
    row.append(element("td", name, "note"), element("td", value));
  }
  const what = [record.target, record.front ? "on the front" : "", record.does || ""];
  tip.replaceChildren(
    element("b", record.label), element("div", what.filter(Boolean).join(" · "), "note"), table,
    element("div", record.report || record.source || "", "path"));
  tip.style.display = "block";
  const at = point.getBoundingClientRect();
  const left = Math.min(at.right + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = at.top + tip.offsetHeight + 20 > window.innerHeight;
  tip.style.left = `${window.scrollX + Math.max(8, left)}px`;
  tip.style.top = `${window.scrollY + (above ? at.top - tip.offsetHeight - 6 : at.bottom + 6)}px`;
}

function pin(name) {
  for (const one of document.querySelectorAll(".pinned")) one.classList.remove("pinned");
  for (const one of points) one.classList.toggle("pinned", one.dataset.of === name);
  const row = rows.get(name);
  if (!row) return;
  row.classList.remove("gone");
  row.classList.add("pinned");
  row.closest("details")?.setAttribute("open", "");
  row.scrollIntoView({ block: "center" });
}

for (const point of points) {
  point.addEventListener("pointerenter", () => show(point));
  point.addEventListener("focus", () => show(point));
  for (const gone of ["pointerleave", "blur"]) {
    point.addEventListener(gone, () => { tip.style.display = "none"; });
  }
  point.addEventListener("click", () => pin(point.dataset.of));
  point.addEventListener("keydown", (event) => { if (event.key === "Enter") pin(point.dataset.of); });
}

// Sorting a table by a column: numbers by value, the unknown last.
for (const head of document.querySelectorAll("th[data-sort]")) {
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0];
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.cells[head.cellIndex].dataset.v ?? "";
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const less = head.dataset.sort === "n" ? x - y : x.localeCompare(y);
      return up ? less : -less;
    };
    body.append(...[...body.rows].sort(compare));
  });
}

// Choosing: what does not fit the wishes is dimmed in the plots and left out of the table.
const form = document.getElementById("wishes");
function choose() {
  const wish = Object.fromEntries(new FormData(form));
  const fits = (r) =>
    (!wish.target || r.target === wish.target) &&
    (!wish.gbps || r.gbps >= Number(wish.gbps)) &&
    (!wish.area || (r.kge ?? r.lut) <= Number(wish.area)) &&
    (!wish.directions || r.directions === "both" || r.directions === wish.directions ||
      (!r.directions && wish.directions !== "decrypts")) &&
    (!wish.keys || !r.keys || r.keys.includes(wish.keys));
  const good = [];
  for (const [name, record] of Object.entries(known)) {
    if (!name.startsWith("r")) continue;
    const fit = fits(record);
    if (fit) good.push([name, record]);
    rows.get(name)?.classList.toggle("gone", !fit);
    for (const one of points) {
      if (one.dataset.of === name) one.classList.toggle("dim", !fit);
    }
  }
  good.sort((a, b) => (a[1].kge ?? a[1].lut) - (b[1].kge ?? b[1].lut));
  const answer = document.getElementById("answer");
  answer.replaceChildren();
  if (!good.length) {
    answer.textContent = "No core here fits; relax a wish.";
    return;
  }
  const most = (of) => good.reduce((a, b) => ((b[1][of] ?? 0) > (a[1][of] ?? 0) ? b : a));
  const say = (text, [name, record], figure) => {
    const link = element("a", record.label);
    link.href = `#${name}`;
    link.addEventListener("click", (event) => { event.preventDefault(); pin(name); });
    const part = element("span", text);
    part.append(link, ` ${figure}. `);
    answer.append(part);
  };
  answer.append(`${good.length} of ${form.dataset.count} fit. `);
  const size = (r) => (r.kge ? `${write(r.kge)} kGE` : `${write(r.lut)} LUTs`);
  const least = good.find(([, r]) => r.kge) ?? good[0];  // gates and LUTs do not compare
  say("Smallest: ", least, `(${size(least[1])}, ${least[1].target})`);
  for (const [text, of, unit] of [["Fastest: ", "gbps", "Gbit/s"],
    ["Most for its area: ", "gbps_per_mm2", "Gbit/s/mm²"],
    ["Most for its energy: ", "gbps_per_w", "Gbit/s/W"]]) {
    const found = most(of);
    if (found[1][of]) say(text, found, `(${write(found[1][of])} ${unit})`);
  }
}
form.addEventListener("input", choose);
form.addEventListener("reset", () => setTimeout(choose));
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("rate").addEventListener("change", (event) => {
  form.elements.gbps.value = event.target.value;
  choose();
});

// One technology at a time.
for (const tabs of document.querySelectorAll(".tabs")) {
  tabs.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    for (const button of tabs.children) {
      button.setAttribute("aria-selected", String(button === chosen));
      document.getElementById(button.getAttribute("aria-controls")).hidden = button !== chosen;
    }
  });
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
choose();
if (/^#[rp]\d+$/.test(location.hash)) pin(location.hash.slice(1));
