// The map of the fabric: its links coloured by what they do, at a time that a slider chooses.

const MAP_TEXTS = {
  utilisation: "utilisation (%)",
  queue: "mean queue (packets)",
  marks: "marks (packets/ms)",
  drops: "drops (packets/ms)",
};
// From idle to full; one hue, ever more contrast with the page.
const MAP_COLOURS = {
  light: ["#dbe1e8", "#a6c8e4", "#5fa2d4", "#2273b5", "#084a8c", "#061f4a"],
  dark: ["#2b313b", "#24507d", "#2f79b8", "#5aa6e0", "#a3d3f7", "#f4fbff"],
};
const DOWN_COLOUR = { light: "#b3261e", dark: "#ff8a80" };
const ROW_HEIGHT = 105;
const EDGE = 34;
const ARC = 70;
const NEAR = 7;
const PLAY_SECONDS = 12;
const BUSIEST = 6;
const LISTED = 12;

const inflated = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// The unit for times up to `end`, and what one of it is in seconds.
const timeUnit = (end) => (end >= 1 ? ["s", 1] : end >= 1e-3 ? ["ms", 1e-3] : ["µs", 1e-6]);

const timeText = (seconds, end) => {
  const [unit, scale] = timeUnit(end);
  return `${(seconds / scale).toPrecision(4)} ${unit}`;
};

const mixed = (colours, share) => {
  const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const low = Math.min(Math.floor(at), colours.length - 2);
  const channel = (colour, place) => parseInt(colour.slice(1 + 2 * place, 3 + 2 * place), 16);
  const parts = [0, 1, 2].map((place) =>
    Math.round(channel(colours[low], place) * (1 - at + low) + channel(colours[low + 1], place) * (at - low)),
  );
  return `rgb(${parts.join(",")})`;
};

// Points of an arc above both ends; the two directions are as far apart as elsewhere.
const arc = ([[x1, y1], [x2, y2]], width) => {
  const top = Math.min(ARC - 8, 14 + (ARC * Math.abs(x2 - x1)) / width);
  const apart = x2 > x1 ? 0 : 4;
  return Array.from({ length: 17 }, (_, place) => {
    const share = place / 16;
    const lift = 4 * share * (1 - share) * (top - apart);
    return [x1 + share * (x2 - x1), y1 + share * (y2 - y1) - lift];
  });
};

class FabricMap {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.metric = "utilisation";
    this.bin = 0;
    this.shown = data.beside === null ? [0] : [0, data.beside];
    this.selected = null;
    this.dark = false;
    this.playing = null;
  }

  async open() {
    for (const variant of this.data.variants) variant.bytes = await inflated(variant.values);
    this.build();
  }

  part(kind, text, attributes = {}) {
    const made = document.createElement(kind);
    if (text) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  build() {
    const controls = this.part("div", "", { class: "map-controls" });
    const metric = this.choice("Colour", this.data.metrics.map((name) => [name, MAP_TEXTS[name]]), (value) => {
      this.metric = value;
      this.refresh();
      this.describe();
    });
    controls.append(metric);
    this.variantChoices = [0, 1].map((place) => {
      const names = this.data.variants.map((variant, number) => [String(number), variant.label || "all"]);
      if (place === 1) names.unshift(["", "nothing"]);
      const made = this.choice(place === 0 ? "Variant" : "compared with", names, (value) => {
        this.shown = place === 0 ? [Number(value), ...this.shown.slice(1)] : [this.shown[0], ...(value === "" ? [] : [Number(value)])];
        this.select(null);
        this.place();
      });
      made.querySelector("select").value = this.shown[place] === undefined ? "" : String(this.shown[place]);
      return made;
    });
    if (this.data.variants.length > 1) controls.append(...this.variantChoices);
    const names = this.data.variants.flatMap((variant) => variant.flows.map((flow) => flow[0]));
    this.flowChoice = this.choice("Flow", [["", "none"], ...[...new Set(names)].map((name) => [name, name])], (value) => {
      this.select(value === "" ? null : { flow: value });
    });
    controls.append(this.flowChoice);

    const time = this.part("div", "", { class: "map-time" });
    this.play = this.part("button", "play", { type: "button" });
    this.play.addEventListener("click", () => this.toggle());
    this.slider = this.part("input", "", {
      type: "range", min: 0, max: this.data.bins - 1, value: 0, "aria-label": "time of the run",
    });
    this.slider.addEventListener("input", () => {
      if (this.playing !== null) this.toggle();
      this.bin = Number(this.slider.value);
      this.refresh();
    });
    this.clock = this.part("output");
    time.append(this.play, this.slider, this.clock);

    this.panes = this.part("div", "", { class: "map-panes" });
    this.legend = this.part("div", "", { class: "map-legend" });
    this.detail = this.part("div", "", { class: "map-detail" });
    this.listing = this.part("div");
    this.root.replaceChildren(controls, time, this.legend, this.panes, this.detail);
    this.bin = this.busiestBin();
    this.slider.value = String(this.bin);
  }

  // Where the first variant's links carry the most.
  busiestBin() {
    const { bytes, fabric } = this.data.variants[0];
    const links = this.data.fabrics[fabric].links.length;
    const sums = Array.from({ length: this.data.bins }, (_, bin) => {
      let sum = 0;
      for (let link = 0; link < links; link++) {
        const byte = bytes[link * this.data.bins + bin];
        if (byte !== this.data.down) sum += byte;
      }
      return sum;
    });
    return sums.indexOf(Math.max(...sums));
  }

  choice(label, options, chosen) {
    const made = this.part("label", `${label} `);
    const select = this.part("select");
    for (const [value, text] of options) select.append(this.part("option", text, { value }));
    select.addEventListener("change", () => chosen(select.value));
    made.append(select);
    return made;
  }

  toggle() {
    if (this.playing !== null) {
      cancelAnimationFrame(this.playing);
      this.playing = null;
      this.play.textContent = "play";
      return;
    }
    this.play.textContent = "pause";
    const from = this.bin >= this.data.bins - 1 ? 0 : this.bin;
    const begun = performance.now();
    const step = (now) => {
      const passed = ((now - begun) / 1000 / PLAY_SECONDS) * this.data.bins;
      const bin = Math.min(this.data.bins - 1, from + Math.floor(passed));
      if (bin !== this.bin) {
        this.bin = bin;
        this.slider.value = String(bin);
        this.refresh();
      }
      this.playing = this.bin >= this.data.bins - 1 ? null : requestAnimationFrame(step);
      if (this.playing === null) this.play.textContent = "play";
    };
    this.playing = requestAnimationFrame(step);
  }

  // Lays out a canvas for each variant that is shown; called again when the page's width or theme changes.
  place(dark = this.dark) {
    this.dark = dark;
    const width = this.root.clientWidth;
    const columns = this.shown.length > 1 && width >= 800 ? 2 : 1;
    const own = Math.floor((width - 20 * (columns - 1)) / columns);
    this.drawn = this.shown.map((number) => {
      const variant = this.data.variants[number];
      const fabric = this.data.fabrics[variant.fabric];
      const levels = Math.max(...fabric.nodes.map((node) => node[2])) + 1;
      const arcs = fabric.links.some(([from, to]) => fabric.nodes[from][2] === fabric.nodes[to][2]);
      const height = Math.max(150, (levels - 1) * ROW_HEIGHT + 2 * EDGE + (arcs ? ARC : 0));
      const pane = this.part("div", "", { class: "map-pane" });
      if (this.data.variants.length > 1) pane.append(this.part("h3", variant.label));
      const canvas = this.part("canvas", "", { role: "img" });
      const ratio = window.devicePixelRatio || 1;
      canvas.width = own * ratio;
      canvas.height = height * ratio;
      canvas.style.width = `${own}px`;
      canvas.style.height = `${height}px`;
      pane.append(canvas);
      const busiest = this.part("div", "", { class: "map-busiest" });
      for (let place = 0; place < 2 * BUSIEST; place++) {
        const button = this.part("button", "", { type: "button" });
        button.addEventListener("click", () => this.select({ link: button.dataset.link }));
        busiest.append(button);
      }
      pane.append(busiest);
      const spot = (node) => [EDGE / 2 + node[1] * (own - EDGE), height - EDGE - node[2] * ROW_HEIGHT];
      const lines = fabric.links.map(([from, to]) => {
        const [x1, y1] = spot(fabric.nodes[from]);
        const [x2, y2] = spot(fabric.nodes[to]);
        const length = Math.hypot(x2 - x1, y2 - y1) || 1;
        // The two directions of a cable lie beside each other.
        const [dx, dy] = [(-(y2 - y1) / length) * 1.8, ((x2 - x1) / length) * 1.8];
        const ends = [[x1 + dx, y1 + dy], [x2 + dx, y2 + dy]];
        // Between nodes of one layer a link is an arc, or it would lie on those between them.
        return fabric.nodes[from][2] === fabric.nodes[to][2] ? arc(ends, own) : ends;
      });
      const entry = { number, variant, fabric, canvas, ratio, lines, spot, busiest, own, height, arcs };
      canvas.addEventListener("click", (event) => {
        const link = this.nearest(entry, event);
        this.select(link === null ? null : { link: this.name(fabric, link) });
      });
      canvas.addEventListener("pointermove", (event) => {
        const link = this.nearest(entry, event);
        canvas.style.cursor = link === null ? "default" : "pointer";
        canvas.title = link === null ? "" : `${this.name(fabric, link)}: ${this.said(entry, link)}`;
      });
      return [pane, entry];
    });
    this.panes.replaceChildren(...this.drawn.map(([pane]) => pane));
    this.drawn = this.drawn.map(([, entry]) => entry);
    this.panes.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    this.refresh();
    this.describe();
  }

  name(fabric, link) {
    const [from, to] = fabric.links[link];
    return `${fabric.nodes[from][0]}->${fabric.nodes[to][0]}`;
  }

  number(fabric, name) {
    const found = fabric.links.findIndex((_, link) => this.name(fabric, link) === name);
    return found < 0 ? null : found;
  }

  nearest(entry, event) {
    const box = entry.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = NEAR;
    entry.lines.forEach((points, link) => {
      for (let place = 1; place < points.length; place++) {
        const [[x1, y1], [x2, y2]] = [points[place - 1], points[place]];
        const squared = (x2 - x1) ** 2 + (y2 - y1) ** 2 || 1;
        const share = Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / squared));
        const distance = Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
        if (distance < least) [best, least] = [link, distance];
      }
    });
    return best;
  }

  byte(entry, link, bin = this.bin, metric = this.metric) {
    const place = this.data.metrics.indexOf(metric);
    return entry.variant.bytes[(place * entry.fabric.links.length + link) * this.data.bins + bin];
  }

  isDown(entry, link, bin = this.bin) {
    return this.byte(entry, link, bin, "utilisation") === this.data.down;
  }

  // The value in the metric's unit; null for the utilisation of a link that was down.
  value(entry, link, bin = this.bin, metric = this.metric) {
    const byte = this.byte(entry, link, bin, metric);
    if (byte === this.data.down) return null;
    const share = byte / this.data.full;
    return metric === "utilisation" ? 100 * share : share * share * this.data.largest[metric];
  }

  said(entry, link, metric = this.metric) {
    const value = this.value(entry, link, this.bin, metric);
    const [, unit] = MAP_TEXTS[metric].match(/\((.*)\)/);
    if (value === null) return "down";
    const text = `${Number(value.toPrecision(3))} ${unit}`;
    return metric === this.metric && this.isDown(entry, link) ? `${text}, down` : text;
  }

  at(entry) {
    return ((this.bin + 0.5) / this.data.bins) * this.data.end;
  }

  flowsOn(entry, link) {
    const at = this.at(entry);
    return entry.variant.flows.filter(
      ([, , start, end, , paths]) => start <= at && (end === null || end >= at) && paths.some((path) => path.includes(link)),
    );
  }

  highlighted(entry) {
    if (this.selected === null) return null;
    if (this.selected.link) {
      const link = this.number(entry.fabric, this.selected.link);
      return new Set(link === null ? [] : [link]);
    }
    const flow = entry.variant.flows.find(([name]) => name === this.selected.flow);
    return new Set(flow ? flow[5].flat() : []);
  }

  refresh() {
    if (!this.drawn) return;
    this.clock.textContent = `${timeText(this.at(), this.data.end)} of ${timeText(this.data.end, this.data.end)}`;
    this.slider.setAttribute("aria-valuetext", this.clock.textContent);
    for (const entry of this.drawn) this.paint(entry);
    this.key();
    if (this.selected !== null) this.list();
  }

  paint(entry) {
    const { canvas, fabric, ratio, lines } = entry;
    const pen = canvas.getContext("2d");
    const theme = this.dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, entry.own, entry.height);
    pen.lineCap = "round";
    const chosen = this.highlighted(entry);
    const bytes = lines.map((_, link) => this.byte(entry, link));
    const downs = lines.map((_, link) => this.isDown(entry, link));
    const order = lines.map((_, link) => link).sort((one, other) => bytes[one] - bytes[other]);
    for (const link of order) {
      const down = downs[link];
      const share = bytes[link] / this.data.full;
      pen.globalAlpha = chosen === null || chosen.has(link) ? 1 : 0.22;
      pen.strokeStyle = down ? DOWN_COLOUR[theme] : mixed(MAP_COLOURS[theme], share);
      pen.lineWidth = down ? 1.5 : 1.2 + 2 * share;
      pen.setLineDash(down ? [4, 4] : []);
      pen.beginPath();
      for (const [x, y] of lines[link]) pen.lineTo(x, y);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
    const { arcs } = entry;
    const rows = new Map();
    for (const node of fabric.nodes) rows.set(node[2], (rows.get(node[2]) ?? 0) + 1);
    pen.font = '11px "Liberation Sans", Arial, Helvetica, sans-serif';
    pen.textAlign = "center";
    const widest = new Map();
    for (const node of fabric.nodes) {
      widest.set(node[2], Math.max(widest.get(node[2]) ?? 0, pen.measureText(node[0]).width));
    }
    for (const node of fabric.nodes) {
      const [x, y] = entry.spot(node);
      const room = (entry.own - EDGE) / rows.get(node[2]);
      pen.fillStyle = style.getPropertyValue("--ink");
      pen.beginPath();
      const radius = Math.min(4, Math.max(1, room / 3));
      node[2] === 0 ? pen.arc(x, y, radius, 0, 2 * Math.PI) : pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
      pen.fill();
      if (widest.get(node[2]) + 4 <= room) {
        pen.fillStyle = style.getPropertyValue("--faint");
        // In the page's colour first: lines end behind the name.
        pen.strokeStyle = style.getPropertyValue("--paper");
        pen.lineWidth = 4;
        pen.strokeText(node[0], x, node[2] === 0 ? y + 18 : y + (arcs ? 18 : -10));
        pen.fillText(node[0], x, node[2] === 0 ? y + 18 : y + (arcs ? 18 : -10));
      }
    }
    const busy = order.filter((link) => bytes[link] > 0 && !downs[link]).reverse().slice(0, BUSIEST);
    const down = order.filter((link) => downs[link]).slice(0, BUSIEST);
    const say = (link) => `${this.name(fabric, link)} ${this.said(entry, link)}`;
    canvas.setAttribute(
      "aria-label",
      `The fabric at ${timeText(this.at(), this.data.end)} by ${MAP_TEXTS[this.metric]}: ` +
        (busy.length || down.length ? [...busy, ...down].map(say).join(", ") : "nothing") + ".",
    );
    // The buttons stay while it plays, so that one can be pressed.
    const told = [...down, ...busy];
    for (const [place, button] of [...entry.busiest.children].entries()) {
      const link = told[place];
      button.hidden = link === undefined;
      if (link === undefined) continue;
      button.textContent = say(link);
      button.dataset.link = this.name(fabric, link);
    }
  }

  key() {
    const theme = this.dark ? "dark" : "light";
    const bar = this.part("span", "", { class: "map-bar" });
    const shares = this.metric === "utilisation" ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 0.7, 0.87, 1];
    bar.style.background = `linear-gradient(to right, ${MAP_COLOURS[theme].join(",")})`;
    const top = this.metric === "utilisation" ? 100 : this.data.largest[this.metric];
    const ticks = shares.map((share) => {
      const value = this.metric === "utilisation" ? top * share : top * share * share;
      return this.part("span", String(Number(value.toPrecision(2))));
    });
    const scale = this.part("span", "", { class: "map-ticks" });
    scale.append(...ticks);
    const both = this.part("span", "", { class: "map-scale" });
    both.append(bar, scale);
    const down = this.part("span", "- - down", { class: "map-down" });
    down.style.color = DOWN_COLOUR[theme];
    this.legend.replaceChildren(this.part("span", MAP_TEXTS[this.metric]), both, down);
  }

  select(what) {
    this.selected = what;
    this.flowChoice.querySelector("select").value = what?.flow ?? "";
    this.describe();
    this.refresh();
  }

  // What is known of the link or flow that is selected: a chart, and what goes over it now.
  describe() {
    if (this.selected === null) {
      this.detail.replaceChildren(
        this.part("p", "Choose a link on the map or below it, or a flow, to see its series and what goes over it.", { class: "note" }),
      );
      return;
    }
    const title = this.part("h3", this.selected.link ?? this.selected.flow);
    const chart = this.part("div", "", { class: "chart" });
    this.listing = this.part("div");
    const clear = this.part("button", "clear", { type: "button" });
    clear.addEventListener("click", () => this.select(null));
    const head = this.part("div", "", { class: "map-head" });
    head.append(title, clear);
    this.detail.replaceChildren(head, chart, this.listing);
    this.list();
    this.chart(chart);
  }

  list() {
    const parts = [];
    for (const entry of this.drawn) {
      const label = this.data.variants.length > 1 ? `${entry.variant.label}: ` : "";
      if (this.selected.link) {
        const link = this.number(entry.fabric, this.selected.link);
        if (link === null) continue;
        const flows = this.flowsOn(entry, link);
        const values = this.data.metrics.map((metric) => `${metric} ${this.said(entry, link, metric)}`).join(", ");
        const line = this.part("p", `${label}${values}; ${flows.length} ${flows.length === 1 ? "flow" : "flows"}${flows.length ? ": " : ""}`);
        for (const flow of flows.slice(0, LISTED)) {
          const made = this.part("button", flow[0], { type: "button", title: flow[1] });
          made.addEventListener("click", () => this.select({ flow: flow[0] }));
          line.append(made);
        }
        if (flows.length > LISTED) line.append(` and ${flows.length - LISTED} more`);
        parts.push(line);
      } else {
        const flow = entry.variant.flows.find(([name]) => name === this.selected.flow);
        if (!flow) {
          parts.push(this.part("p", `${label}this flow is not among those kept`));
          continue;
        }
        const [, ends, start, end, bytes, paths] = flow;
        const until = end === null ? "the run's end" : timeText(end, end);
        const size = bytes >= 1e9 ? `${(bytes / 1e9).toPrecision(3)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toPrecision(3)} MB` : `${(bytes / 1e3).toPrecision(3)} KB`;
        parts.push(this.part("p", `${label}${ends}, ${timeText(start, start)} to ${until}, ${size} on ${paths.length} ${paths.length === 1 ? "subflow" : "subflows"}`));
      }
    }
    this.listing.replaceChildren(...parts);
  }

  chart(place) {
    const rows = [];
    const linksOf = (entry) => [...this.highlighted(entry)];
    for (const entry of this.drawn) {
      // Of a flow the links on which most goes on.
      const busy = linksOf(entry)
        .map((link) => [link, Array.from({ length: this.data.bins }, (_, bin) => this.value(entry, link, bin) ?? 0).reduce((a, b) => a + b, 0)])
        .sort((one, other) => other[1] - one[1])
        .slice(0, BUSIEST);
      for (const [link] of busy) {
        for (let bin = 0; bin < this.data.bins; bin++) {
          const value = this.value(entry, link, bin);
          rows.push({
            time: ((bin + 0.5) / this.data.bins) * this.data.end,
            value,
            link: this.name(entry.fabric, link),
            variant: entry.variant.label,
          });
        }
      }
    }
    const [unit, scale] = timeUnit(this.data.end);
    const colour = this.selected.link ? "variant" : "link";
    const several = new Set(rows.map((row) => row[colour])).size > 1;
    const panels = !this.selected.link && this.drawn.length > 1;
    const line = {
      mark: { type: "line", interpolate: "step", strokeWidth: 1.5 },
      encoding: {
        x: { field: "time", type: "quantitative", title: `time (${unit})`, scale: { domain: [0, this.data.end], nice: false }, axis: { tickCount: 6, labelExpr: `format(datum.value / ${scale}, '~r')` } },
        y: { field: "value", type: "quantitative", title: MAP_TEXTS[this.metric], scale: { zero: true }, axis: { tickCount: 4 } },
        color: { field: colour, type: "nominal", title: null, legend: several ? { orient: "top", columns: Math.max(1, Math.floor(room / 180)), symbolType: "stroke" } : null, scale: { range: schemeColours } },
      },
      height: 170,
    };
    const width = Math.min(640, room - 70);
    const spec = {
      description: `${MAP_TEXTS[this.metric]} of ${this.selected.link ?? this.selected.flow} over time`,
      data: { values: rows },
      ...(panels
        ? { facet: { field: "variant", type: "nominal", title: null, sort: this.drawn.map((entry) => entry.variant.label) }, columns: room >= 800 ? 2 : 1, spec: { ...line, width: room >= 800 ? Math.floor((room - 130) / 2) : width } }
        : { ...line, width }),
    };
    vegaEmbed(place, recoloured(spec, this.dark), {
      config: themes[this.dark ? "dark" : "light"],
      renderer: "svg",
      tooltip: false,
      actions: false,
    });
  }
}

const fabricMaps = [];

async function openMaps() {
  for (const [id, data] of Object.entries(insides)) {
    const map = new FabricMap(document.getElementById(id), data);
    try {
      await map.open();
      fabricMaps.push(map);
    } catch (error) {
      // The charts do not depend on it.
      console.error(error);
      map.root.textContent = `The map cannot be shown: ${error.message}`;
    }
  }
}
