// Beside the view of viser: the title, the clock, and curves with a cursor at the time of the player. The player keeps
// its own time; it is read from its slider and set through its field, as a person would.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("run-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const [W, H, LEFT, RIGHT, TOP, BOTTOM] = [400, 118, 46, 6, 6, 16];
  const begin = data.time[0], end = data.time[data.time.length - 1];
  const make = (name, attributes, parent) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    parent.append(node);
    return node;
  };
  const html = (name, text, parent) => {
    const node = document.createElement(name);
    node.textContent = text;
    parent.append(node);
    return node;
  };
  const xOf = t => LEFT + (W - LEFT - RIGHT) * (end > begin ? (t - begin) / (end - begin) : 0.5);
  const short = x => x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? (+x.toPrecision(3)).toExponential() : +x.toPrecision(4) + "";
  const digits = end > begin ? Math.min(Math.max(3 - Math.ceil(Math.log10(end - begin)), 2), 12) : 2;
  const pace = data.pace < 1 ? `, ${short(1 / data.pace)} times slower than real time` : data.pace > 1 ? `, ${short(data.pace)} times faster than real time` : "";

  const caption = document.getElementById("caption");
  html("h1", data.title, caption);
  const clock = html("div", "", caption);
  clock.className = "clock";
  const legend = html("ul", "", caption);
  for (const entry of data.legend) html("li", entry.label, legend).style.setProperty("--colour", entry.colour);

  const updates = [];
  const steps = (low, high) => {
    const rough = (high - low) / 3, power = 10 ** Math.floor(Math.log10(rough));
    const step = [5, 2, 1, 0.5].map(x => x * power).find(x => x <= rough);  // three ticks or more
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
    return found;
  };

  const panel = (one, parent) => {
    const figure = html("figure", "", parent);
    html("figcaption", one.label, figure);
    const finite = one.lines.flatMap(line => line.values).filter(x => x !== null);
    let low = Math.min(...finite), high = Math.max(...finite);
    const room = high > low ? 0.06 * (high - low) : 0.1 * Math.abs(high) || 1;
    low -= room; high += room;
    const yOf = y => TOP + (H - TOP - BOTTOM) * (high - y) / (high - low);
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none" }, figure);
    for (const y of steps(low, high)) {
      make("line", { x1: LEFT, x2: W - RIGHT, y1: yOf(y), y2: yOf(y), stroke: "#e4e4e4" }, svg);
      make("text", { x: LEFT - 4, y: yOf(y) + 3, "text-anchor": "end", "font-size": 9, fill: "#555" }, svg).textContent = short(y);
    }
    if (end > begin) for (const t of steps(begin, end)) {
      make("text", { x: xOf(t), y: H - 4, "text-anchor": xOf(t) > W - 24 ? "end" : "middle", "font-size": 9, fill: "#555" }, svg).textContent = short(t) + " s";
    }
    const key = html("div", "", figure);
    key.className = "key";
    one.lines.forEach(line => {
      const points = line.values.map((y, i) => y === null ? " " : `${xOf(data.time[i]).toFixed(1)},${yOf(y).toFixed(1)}`);
      const curve = make("polyline", { points: points.join(" "), fill: "none", stroke: line.colour, "stroke-width": 1.3,
        "vector-effect": "non-scaling-stroke", "stroke-dasharray": ["", "6 3", "2 2", "8 3 2 3"][line.dashes] }, svg);
      const label = html("span", "", key);
      label.style.color = line.colour;
      label.title = line.meaning + " (click: hide or show)";
      label.onclick = () => curve.setAttribute("visibility", label.classList.toggle("off") ? "hidden" : "visible");
      updates.push((t, i) => { label.textContent = `${line.label} ${line.values[i] === null ? "-" : short(line.values[i])}`; });
    });
    const cursor = make("line", { y1: TOP, y2: H - BOTTOM, stroke: "#C0392B", "stroke-width": 1, class: "cursor",
      "vector-effect": "non-scaling-stroke" }, svg);
    updates.push(t => { cursor.setAttribute("x1", xOf(t)); cursor.setAttribute("x2", xOf(t)); });
    const chosen = event => {
      const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * W;
      seek((x - LEFT) / (W - LEFT - RIGHT) * (end - begin));
    };
    svg.onpointerdown = event => { svg.setPointerCapture(event.pointerId); chosen(event); };
    svg.onpointermove = event => { if (event.buttons) chosen(event); };
  };
  const curves = document.getElementById("curves");
  for (const one of data.panels) panel(one, curves);
  if (!data.panels.length) curves.remove();

  const seek = passed => {
    const field = document.querySelector("#root input[inputmode=decimal]");
    if (!field) return;
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(field, (Math.min(Math.max(passed, 0), end - begin) / data.pace).toFixed(3));
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  };
  let last = -1;
  const follow = () => {
    const slider = document.querySelector("#root [role=slider]");
    const passed = slider ? +slider.getAttribute("aria-valuenow") * data.pace : 0;
    if (passed !== last) {
      last = passed;
      const t = begin + passed;
      clock.textContent = `${t.toFixed(digits)} s of ${short(end)} s${pace}`;
      const i = data.time.findIndex(x => x >= t - 1e-9 * (end - begin));
      for (const update of updates) update(t, i < 0 ? data.time.length - 1 : i);
    }
    requestAnimationFrame(follow);
  };
  follow();
})();
