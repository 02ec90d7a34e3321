// Makes Plotly available to every timeline of the page, once. `source` is defined above this text.
export default function () {
  if (window.radixflowPlotly) return;
  const module = { exports: {} };
  new Function("module", "exports", source)(module, module.exports);
  window.radixflowPlotly = module.exports;
  window.dispatchEvent(new Event("radixflow-plotly"));
}
