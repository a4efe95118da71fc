// Draws the curves of a model from the JSON beside it, in the reader's theme and width. No network.
(() => {
  "use strict";
  // Okabe and Ito's colours, told apart with every kind of colour vision; dashes and symbols tell them apart, too.
  const THEMES = {
    light: {
      ink: "#1b1e23", soft: "#5b626d", line: "#e3e6ea", box: "#ffffff", hatch: "#8a919c",
      curves: ["#0072b2", "#d55e00", "#009e73", "#7a5a00", "#a3427f", "#1b1e23"],
    },
    dark: {
      ink: "#e4e6ea", soft: "#a0a7b2", line: "#2c3138", box: "#22262d", hatch: "#7d8590",
      curves: ["#56b4e9", "#ff8a3d", "#2fbf96", "#e6c25c", "#cc79a7", "#e4e6ea"],
    },
  };
  const DASHES = ["solid", "dash", "dashdot", "longdash", "dot"];
  const PRINT_WIDTH = 660; // CSS pixels of an A4 page within its margins
  const { baseLayout, start } = wulfDrawing(THEMES, PRINT_WIDTH);

  function band(series, colour) {
    return {
      type: "scatter", mode: "lines", x: [...series.x, ...[...series.x].reverse()],
      y: [...series.high, ...[...series.low].reverse()], fill: "toself", fillcolor: `${colour}33`,
      line: { width: 0 }, hoverinfo: "skip", showlegend: false,
    };
  }

  function points(series, theme) {
    const trace = {
      type: "scatter", mode: "markers", name: series.name, x: series.x, y: series.y, customdata: series.hover,
      marker: { size: 8, color: theme.ink, symbol: "circle-open", line: { width: 2 } },
      hovertemplate: "%{customdata}<extra></extra>",
    };
    if (series.low.length) {
      trace.error_y = {
        type: "data", symmetric: false, width: 3, thickness: 1.5, color: theme.ink,
        array: series.y.map((y, i) => (series.high[i] === null ? 0 : series.high[i] - y)),
        arrayminus: series.y.map((y, i) => (series.low[i] === null ? 0 : y - series.low[i])),
      };
    }
    return trace;
  }

  function traces(chart, theme) {
    const drawn = [];
    let lines = 0;
    for (const series of chart.series) {
      if (series.points) {
        drawn.push(points(series, theme));
        continue;
      }
      const colour = series.dashed ? theme.hatch : theme.curves[lines % theme.curves.length];
      const dash = series.dashed ? "dot" : DASHES[lines % DASHES.length];
      if (!series.dashed) lines += 1;
      if (series.low.length) drawn.push(band(series, colour));
      drawn.push({
        type: "scatter", mode: "lines", name: series.name, x: series.x, y: series.y, customdata: series.hover,
        line: { color: colour, width: series.dashed ? 1.5 : 2.5, dash }, hovertemplate: "%{customdata}<extra></extra>",
      });
    }
    return drawn;
  }

  // As many ticks as have room; the first and then every so many.
  function thinned(ticks, room) {
    const step = Math.max(1, Math.ceil(ticks.length / Math.max(2, room)));
    return ticks.filter((_, i) => i % step === 0);
  }

  function axis(theme, title, ticks) {
    return {
      type: "log", title: { text: title, standoff: 8, font: { size: 12, color: theme.soft } },
      tickvals: ticks.map((t) => t[0]), ticktext: ticks.map((t) => t[1]),
      tickfont: { size: 11, color: theme.soft }, gridcolor: theme.line, zeroline: false, fixedrange: true,
      automargin: true, tickangle: 0,
    };
  }

  function series(chart, theme, width) {
    const layout = {
      ...baseLayout(theme, width, Math.round(Math.min(480, Math.max(320, width * 0.6)))),
      margin: { l: 8, r: 10, t: 10, b: 8 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
      xaxis: axis(theme, chart.xTitle, thinned(chart.xTicks, width / 70)),
      yaxis: axis(theme, chart.yTitle, chart.yTicks),
    };
    return { traces: traces(chart, theme), layout };
  }

  start({ plot: series });
  globalThis.wulfModel = { baseLayout, start };
})();
