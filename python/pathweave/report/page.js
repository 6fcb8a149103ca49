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

async function draw() {
  const dark = isDark();
  root.classList.toggle("dark", dark);
  button.textContent = dark ? "light" : "dark";
  for (const swatch of document.querySelectorAll(".swatch")) {
    const colour = swatch.dataset.colour;
    swatch.style.background = dark ? (darkColours[colour] ?? colour) : colour;
  }
  for (const [id, spec] of Object.entries(charts)) {
    if (isDark() !== dark) return;
    await vegaEmbed(document.getElementById(id), recoloured(spec, dark), {
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
await draw();
root.dataset.drawn = "yes";
