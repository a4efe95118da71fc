// Draws figures over many runs from the JSON beside it, in the reader's theme and width. No network.
(() => {
  "use strict";
  // The changes' colours are Okabe and Ito's, told apart with every kind of colour vision.
  const THEMES = {
    light: {
      ink: "#1b1e23", soft: "#5b626d", line: "#e3e6ea", box: "#ffffff", hatch: "#8a919c", point: "#0072b2",
      bad: "#d55e00", good: "#009e73", warn: "#7a5a00",
    },
    dark: {
      ink: "#e4e6ea", soft: "#a0a7b2", line: "#2c3138", box: "#22262d", hatch: "#7d8590", point: "#56b4e9",
      bad: "#ff8a3d", good: "#2fbf96", warn: "#e6c25c",
    },
  };
  const PRINT_WIDTH = 660; // CSS pixels of an A4 page within its margins
  const { baseLayout, start } = wulfDrawing(THEMES, PRINT_WIDTH);

  // As many of the days as stand side by side, each at its first run; the first always.
  function days(chart, width) {
    const span = chart.x[chart.x.length - 1] - chart.x[0] + 1;
    const least = (span * 84) / Math.max(84, width - 70);
    const shown = [];
    for (const tick of chart.ticks) {
      if (!shown.length || tick[0] - shown[shown.length - 1][0] >= least) shown.push(tick);
    }
    return shown;
  }

  function trend(chart, theme, width) {
    const many = chart.x.length > 300;
    const traces = [{
      type: "scatter", mode: "markers", x: chart.x, y: chart.y, customdata: chart.hover,
      marker: { size: many ? 3 : 5, color: theme.point, opacity: many ? 0.6 : 0.85 },
      hovertemplate: "%{customdata}<extra></extra>",
    }];
    if (!many) {
      traces[0].error_y = {
        type: "data", symmetric: false, width: 0, thickness: 1, color: `${theme.point}66`,
        array: chart.y.map((y, i) => (chart.high[i] === null ? 0 : chart.high[i] - y)),
        arrayminus: chart.y.map((y, i) => (chart.low[i] === null ? 0 : y - chart.low[i])),
      };
    }
    const x = [], y = [];
    for (const [from, to, level] of chart.levels) {
      x.push(from - 0.4, to + 0.4, null);
      y.push(level, level, null);
    }
    traces.push({ type: "scatter", mode: "lines", x, y, line: { color: theme.ink, width: 2 }, hoverinfo: "skip" });
    const shown = days(chart, width);
    const top = { yref: "paper", yanchor: "bottom", y: 1, showarrow: false };
    const layout = {
      ...baseLayout(theme, width, Math.round(Math.min(340, Math.max(240, width * 0.5)))),
      hoverdistance: 30, showlegend: false, margin: { l: 8, r: 10, t: 22, b: 8 },
      xaxis: {
        range: [chart.x[0] - 0.8, chart.x[chart.x.length - 1] + 0.8], tickvals: shown.map((t) => t[0]), ticktext: shown.map((t) => t[1]),
        tickfont: { size: 11, color: theme.soft }, showgrid: false, zeroline: false, fixedrange: true, tickangle: 0,
        ticks: "outside", ticklen: 4, tickcolor: theme.hatch, automargin: true,
      },
      yaxis: {
        range: chart.range, title: { text: chart.yTitle, standoff: 6, font: { size: 11, color: theme.soft } },
        tickfont: { size: 11, color: theme.soft }, gridcolor: theme.line, zeroline: false, fixedrange: true,
        automargin: true, nticks: 6,
      },
      shapes: chart.changes.flatMap((change) => [
        {
          type: "rect", xref: "x", yref: "paper", x0: change.from, x1: change.to, y0: 0, y1: 1, layer: "below",
          fillcolor: theme[change.style], opacity: 0.15, line: { width: 0 },
        },
        {
          type: "line", xref: "x", yref: "paper", x0: change.at, x1: change.at, y0: 0, y1: 1,
          line: { color: theme[change.style], width: 1.5, dash: "dash" },
        },
      ]),
      annotations: chart.changes.map((change) => (
        { ...top, x: change.at, text: `<b>${change.mark}</b>`, font: { size: 12, color: theme.ink } }
      )),
    };
    return { traces, layout };
  }

  start({ trend });
})();
