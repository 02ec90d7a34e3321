// Draws every figure of the report in the colours of the reader's theme, and again when the theme changes.
"use strict";

function theme() {
  const css = getComputedStyle(document.documentElement);
  const value = (name) => css.getPropertyValue(name).trim();
  const font = { color: value("--text"), family: getComputedStyle(document.body).fontFamily, size: 12 };
  return { font, hoverlabel: { bgcolor: value("--panel"), bordercolor: value("--line"), align: "left", namelength: -1,
    font: { color: value("--text"), size: 13 } } };
}

function draw(element) {
  const figure = JSON.parse(document.getElementById(element.dataset.source).textContent);
  Plotly.newPlot(element, figure.data, { ...figure.layout, ...theme() }, figure.config);
}

function drawAll() {
  document.querySelectorAll(".figure").forEach(draw);
}

drawAll();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
