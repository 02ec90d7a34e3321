// Two buttons that save a figure of this page as an image, with the Plotly that has drawn it: nothing is asked of a server.
// Plotly's own camera button knows one format; it is told the other one, and the ground of the page, for one click.
const CAMERA = '.modebar-btn[data-title^="Download plot"]';

function ground(element) {
  const app = element.closest(".stApp") || document.body;
  return getComputedStyle(app).backgroundColor;
}

function save({ block, name }, format, tries = 100) {
  const plot = document.querySelector(`.st-key-${block} .js-plotly-plot`);
  const camera = plot && plot.querySelector(CAMERA);
  if (!camera) { // it is still being drawn
    if (tries > 0) setTimeout(() => save({ block, name }, format, tries - 1), 50);
    return;
  }
  const options = plot._context.toImageButtonOptions;
  const before = { ...options };
  const paper = plot.layout.paper_bgcolor;
  Object.assign(options, { format, filename: name, scale: format === "png" ? 2 : 1 });
  plot.layout.paper_bgcolor = ground(plot);
  camera.dispatchEvent(new MouseEvent("click", { bubbles: false })); // a click outside would close what we stand in
  plot.layout.paper_bgcolor = paper;
  plot._context.toImageButtonOptions = before;
}

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => save(data, button.dataset.format);
    button.disabled = false; // a click before would have been lost
  }
}
