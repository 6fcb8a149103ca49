const root = document.documentElement;
const button = document.getElementById("theme");
const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = null;

const isDark = () => (chosen === null ? system.matches : chosen === "dark");

// Charts carry the colours of a light page; a dark one has a counterpart for each.
const recoloured = (spec, dark) => {
  const text = JSON.stringify(spec);
  return JSON.parse(dark ? text.replace(/#[0-9a-f]{6}/g, (found) => darkColours[found] ?? found) : text);
};

const SPACING = 28;
const LEAST_WIDTH = 250;
const WIDEST_ALONE = 640;
const SYMBOL = 45;
const LETTER = 7;

// Charts are made for a wide page. For less room, panels get narrower until they are no narrower
// than LEAST_WIDTH, and then stand below each other.
const fitted = (spec, room) => {
  if (spec.vconcat) return { ...spec, vconcat: spec.vconcat.map((part) => fitted(part, room)) };
  const axis = spec.usermeta?.axis ?? 70;
  if (!spec.facet) return legendsFitted({ ...spec, width: Math.min(spec.width, room - axis) }, room);
  const grid = spec.facet.column !== undefined;
  const wanted = grid ? new Set(spec.facet.column.sort).size : spec.columns;
  const spacing = typeof spec.spacing === "number" ? spec.spacing : SPACING;
  const most = Math.floor((room - axis + spacing) / ((grid ? LEAST_WIDTH / 2 : LEAST_WIDTH) + spacing));
  const columns = Math.max(1, Math.min(wanted, most));
  const width = Math.floor((room - axis - spacing * (columns - 1)) / columns);
  const inner = legendsFitted({ ...spec.spec, width: Math.min(spec.spec.width, width) }, room);
  if (!grid) return { ...spec, columns, spec: inner };
  if (columns === wanted) return { ...spec, spec: inner };
  // A grid without room for its columns becomes a list with a name above each panel.
  const { row, column } = spec.facet;
  const order = row.sort.flatMap((owner) => column.sort.map((name) => [owner, name].filter(Boolean).join(", ")));
  const label = { calculate: "datum.variant ? datum.owner + ', ' + datum.variant : datum.owner", as: "place" };
  const alone = Math.min(WIDEST_ALONE, room - 70);
  return {
    ...spec,
    transform: [...(spec.transform ?? []), label],
    facet: { field: "place", type: "nominal", title: row.title, sort: order },
    columns: 1,
    spec: legendsFitted({ ...spec.spec, width: alone }, room),
  };
};

const legendsFitted = (spec, room) => {
  const narrowed = (encoding) => {
    const found = {};
    for (const [channel, value] of Object.entries(encoding ?? {})) {
      const names = value?.legend && value.scale?.domain;
      if (names) {
        const widest = Math.max(1, ...names.map((name) => String(name).length)) * LETTER + SYMBOL;
        const columns = Math.max(1, Math.min(names.length, Math.floor(room / widest)));
        found[channel] = { ...value, legend: { ...value.legend, columns } };
      } else {
        found[channel] = value;
      }
    }
    return found;
  };
  const own = spec.encoding ? { ...spec, encoding: narrowed(spec.encoding) } : spec;
  return own.layer
    ? { ...own, layer: own.layer.map((part) => ({ ...part, encoding: narrowed(part.encoding) })) }
    : own;
};

let room = 0;

async function draw() {
  const dark = isDark();
  root.classList.toggle("dark", dark);
  button.textContent = dark ? "light" : "dark";
  button.setAttribute("aria-label", dark ? "light colours" : "dark colours");
  for (const swatch of document.querySelectorAll(".swatch")) {
    const colour = swatch.dataset.colour;
    swatch.style.background = dark ? (darkColours[colour] ?? colour) : colour;
  }
  const width = document.querySelector("main").clientWidth;
  const padding = parseFloat(getComputedStyle(document.querySelector("main")).paddingLeft);
  room = width - 2 * padding;
  const drawing = room;
  for (const map of fabricMaps) map.place(dark);
  for (const [id, spec] of Object.entries(charts)) {
    if (isDark() !== dark || room !== drawing) return;
    await vegaEmbed(document.getElementById(id), recoloured(fitted(spec, drawing), dark), {
      config: themes[dark ? "dark" : "light"],
      renderer: "svg",
      tooltip: { theme: dark ? "dark" : "light" },
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: id.replace(/^s\d+-/, ""),
    });
  }
}

button.hidden = false;
button.addEventListener("click", () => {
  chosen = isDark() ? "light" : "dark";
  draw();
});
system.addEventListener("change", draw);
let resized;
let lastWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === lastWidth) return;
  lastWidth = window.innerWidth;
  clearTimeout(resized);
  resized = setTimeout(draw, 200);
});
await openMaps();
await draw();
root.dataset.drawn = "yes";
