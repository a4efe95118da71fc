// What the charts of all pages have in common: the JSON beside them, the reader's theme and width, and when they are drawn.
"use strict";
globalThis.wulfDrawing = (themes, printWidth) => {
  const darkMode = matchMedia("(prefers-color-scheme: dark)");
  const source = document.getElementById("chart-data");
  const charts = source ? JSON.parse(source.textContent) : [];
  let printing = false;

  const themeName = () => (darkMode.matches && !printing ? "dark" : "light");

  function baseLayout(theme, width, height) {
    return {
      width, height, autosize: false, dragmode: false, hovermode: "closest",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: theme.ink },
      hoverlabel: { bgcolor: theme.box, bordercolor: theme.hatch, font: { color: theme.ink, size: 12 }, align: "left" },
    };
  }

  // Draws every chart of these kinds, now and whenever theme, width or paper change. A kind makes a chart's traces and
  // layout; `columns` says how many times the printed width its element has.
  function start(kinds, columns = () => 1) {
    const own = charts.filter((chart) => chart.kind in kinds);

    function draw(chart) {
      const element = document.getElementById(chart.id);
      const width = printing ? printWidth * columns(element) : Math.floor(element.clientWidth);
      if (width < 50) return;
      const { traces, layout } = kinds[chart.kind](chart, themes[themeName()], width);
      Plotly.react(element, traces, layout, { displayModeBar: false, responsive: false, scrollZoom: false });
    }

    const drawAll = () => own.forEach(draw);
    drawAll();
    darkMode.addEventListener("change", drawAll);
    let pending = 0;
    let drawnWidth = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === drawnWidth) return; // a phone's address bar comes and goes: the height alone changes
      drawnWidth = innerWidth;
      cancelAnimationFrame(pending);
      pending = requestAnimationFrame(drawAll);
    });

    let opened = [];
    addEventListener("beforeprint", () => {
      printing = true;
      opened = [...document.querySelectorAll("details[data-print]:not([open])")];
      opened.forEach((details) => { details.open = true; });
      drawAll();
    });
    addEventListener("afterprint", () => {
      printing = false;
      opened.forEach((details) => { details.open = false; });
      drawAll();
    });
    const { dataset } = document.documentElement;
    dataset.drawn = String(Number(dataset.drawn ?? 0) + own.length);
  }

  return { baseLayout, themeName, isPrinting: () => printing, start };
};
