// Draws the figure, follows the page's theme, and reports the visible range of the x axis.
// Mouse: wheel zooms, drag moves, click opens a round (or zooms into a mark of several), click with Shift selects it,
// double click shows the whole run.
// Keys, as in Perfetto: w s zoom, a d move, f whole run; [ and ] previous and next bubble, / searches a request,
// Enter opens the selected round.
const REPORT_AFTER_MS = 40;
const DOUBLE_CLICK_MS = 320;

function withPlotly(use) {
  if (window.radixflowPlotly) use(window.radixflowPlotly);
  else window.addEventListener("radixflow-plotly", () => use(window.radixflowPlotly), { once: true });
}

function themed(layout, element) {
  const css = getComputedStyle(element);
  const value = (name, otherwise) => css.getPropertyValue(name).trim() || otherwise;
  const text = value("--st-text-color", "#444");
  layout.font = { ...layout.font, color: text, family: value("--st-font", "sans-serif"), size: 12 };
  layout.hoverlabel = {
    ...layout.hoverlabel,
    bgcolor: value("--st-secondary-background-color", "#fff"),
    bordercolor: value("--st-border-color", "#888"),
    font: { color: text, family: value("--st-font", "sans-serif"), size: 13 },
  };
  return layout;
}

function same(a, b) {
  const unit = Math.abs(a[1] - a[0]) || 1;
  return Math.abs(a[0] - b[0]) < 1e-3 * unit && Math.abs(a[1] - b[1]) < 1e-3 * unit;
}

function xAxes(layout) {
  return Object.keys(layout).filter((name) => /^xaxis\d*$/.test(name));
}

function moved(range, key) {
  const [low, high] = range;
  const length = high - low;
  const middle = (low + high) / 2;
  if (key === "w") return [middle - length / 4, middle + length / 4];
  if (key === "s") return [middle - length, middle + length];
  if (key === "a") return [low - length / 4, high - length / 4];
  if (key === "d") return [low + length / 4, high + length / 4];
  return null;
}

function relayout(Plotly, plot, range) {
  Plotly.relayout(plot, Object.fromEntries(xAxes(plot.layout).map((axis) => [`${axis}.range`, range])));
}

function zoomInto(Plotly, plot, point) {
  const width = Number(point.data.width[point.pointNumber]);
  const middle = Number(point.x);
  relayout(Plotly, plot, [middle - 0.55 * width, middle + 0.55 * width]);
}

function searchBox() {
  return document.querySelector('input[aria-label="Find a request"]');
}

// Keys belong to the timeline unless a person is typing, or has moved to another element of the page.
function isOurs(event, plot) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  return event.target === document.body || plot.contains(event.target);
}

function hookKeys(Plotly, plot, setTriggerValue) {
  document.addEventListener("keydown", function onKey(event) {
    if (!plot.isConnected) return document.removeEventListener("keydown", onKey);
    if (!isOurs(event, plot)) return;
    const jump = { "[": "previous", "]": "next", f: "whole", Enter: "open" }[event.key];
    const range = moved(plot.layout.xaxis.range.map(Number), event.key);
    const search = event.key === "/" ? searchBox() : null;
    if (jump) setTriggerValue("jump", jump);
    else if (range) relayout(Plotly, plot, range);
    else if (search) search.focus();
    if (jump || range || search) event.preventDefault();
  });
}

function hookClicks(Plotly, plot, setTriggerValue) {
  let timer = null;
  plot.on("plotly_click", ({ points, event }) => {
    const point = points.find((each) => typeof each.customdata === "string");
    clearTimeout(timer);
    if (!point) return;
    const [run, first, last] = point.customdata.split(" ").map(Number);
    // The first click of a double click opens nothing.
    timer = setTimeout(() => {
      if (first !== last) zoomInto(Plotly, plot, point);
      else setTriggerValue(event.shiftKey ? "select" : "open", [run, first]);
    }, DOUBLE_CLICK_MS);
  });
  plot.on("plotly_doubleclick", () => {
    clearTimeout(timer);
    setTriggerValue("jump", "whole");
  });
}

// The range as the mouse has it now: the layout learns of the wheel only once Plotly has drawn everything anew.
function visibleRange(plot) {
  return plot._fullLayout.xaxis.range.map(Number);
}

function hookRange(plot, setStateValue) {
  let timer = null;
  let isHeld = false;
  const report = () => {
    const range = visibleRange(plot);
    if (plot.reported && same(range, plot.reported)) return;
    plot.reported = range;
    setStateValue("range", range);
  };
  const reportSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(report, REPORT_AFTER_MS);
  };
  plot.addEventListener("mousedown", () => { isHeld = true; }, { capture: true });
  window.addEventListener("mouseup", function onUp() {
    isHeld = false;
    if (!plot.isConnected) window.removeEventListener("mouseup", onUp);
  });
  // While the wheel turns, the server is asked as soon as it rests, not after Plotly's own drawing; a drag has to end.
  plot.on("plotly_relayouting", () => { if (!isHeld) reportSoon(); });
  plot.on("plotly_relayout", reportSoon);
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const plot = parentElement.querySelector(".radixflow-timeline");
  const figure = JSON.parse(data.figure);
  const asked = figure.layout.xaxis.range;
  const config = { ...data.config, scrollZoom: true, doubleClick: false };
  config.modeBarButtonsToRemove = [...config.modeBarButtonsToRemove, "resetScale2d"];
  plot.style.height = `${data.height}px`;
  themed(figure.layout, parentElement instanceof Element ? parentElement : plot);
  figure.layout.uirevision = "radixflow";
  // An answer to our own report must not pull the view back from where the mouse has gone since.
  const ownAnswer = plot.reported && same(asked, plot.reported);
  const visible = ownAnswer ? visibleRange(plot) : asked;
  for (const axis of xAxes(figure.layout)) {
    figure.layout[axis].range = [...visible];
    figure.layout[axis].uirevision = JSON.stringify(visible);
  }

  withPlotly((Plotly) => {
    Plotly.react(plot, figure.data, figure.layout, config).then(() => {
      plot.answered = asked; // what is drawn was asked for this range, for those who measure
      if (plot.hooked) return;
      plot.hooked = true;
      hookRange(plot, setStateValue);
      // Plotly keeps the browser from moving the focus, and keys would go on to where it was.
      plot.addEventListener("mousedown", () => plot.focus({ preventScroll: true }), { capture: true });
      hookClicks(Plotly, plot, setTriggerValue);
      hookKeys(Plotly, plot, setTriggerValue);
    });
    if (!ownAnswer) plot.reported = asked;
  });
}
