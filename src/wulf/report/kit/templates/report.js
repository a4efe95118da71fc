// Draws the charts of a wulf report from the JSON beside it, in the reader's theme and width. No network.
(() => {
  "use strict";
  const THEMES = {
    light: { ink: "#1b1e23", soft: "#5b626d", line: "#e3e6ea", hatch: "#8a919c", paper: "#fdfdfc", box: "#ffffff" },
    dark: { ink: "#e4e6ea", soft: "#a0a7b2", line: "#2c3138", hatch: "#7d8590", paper: "#14161a", box: "#22262d" },
  };
  // Okabe and Ito's colours, told apart with every kind of colour vision; the yellow and black are left out.
  const SERIES = {
    light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"],
    dark: ["#56b4e9", "#e69f00", "#2fbf96", "#e39cc4", "#5a9bd8", "#ff8a3d"],
  };
  const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
  const PRINT_WIDTH = 330; // CSS pixels of half an A4 page within its margins

  const coarse = matchMedia("(pointer: coarse)").matches;
  const drawing = wulfDrawing(THEMES, PRINT_WIDTH);
  const { themeName } = drawing;

  function baseLayout(theme, width, height) {
    return { ...drawing.baseLayout(theme, width, height), showlegend: false, margin: { l: 8, r: 10, t: 6, b: 8 } };
  }

  // The cells' outlines as one path: Plotly fills it, hatched.
  function outlines(cells) {
    const x = [], y = [];
    for (const [i, j] of cells) {
      x.push(j - 0.5, j + 0.5, j + 0.5, j - 0.5, j - 0.5, null);
      y.push(i - 0.5, i - 0.5, i + 0.5, i + 0.5, i - 0.5, null);
    }
    return { x, y };
  }

  function hatched(cells, colour, shape, width) {
    return {
      type: "scatter", mode: "lines", ...outlines(cells), fill: "toself", hoverinfo: "skip",
      line: { width, color: colour },
      fillcolor: "rgba(0,0,0,0)",
      fillpattern: { shape, size: 6, solidity: 0.18, fgcolor: colour, bgcolor: "rgba(0,0,0,0)" },
    };
  }

  function nodeAxis(nodes, side, pixels) {
    const longest = Math.max(...nodes.map((name) => name.length));
    const upright = side === "top" && longest * 7 + 6 > pixels;
    const every = Math.max(1, Math.ceil((side === "top" && !upright ? longest * 7 + 6 : 13) / pixels));
    const shown = nodes.map((_, i) => i).filter((i) => i % every === 0);
    return {
      tickvals: shown, ticktext: shown.map((i) => nodes[i]), side, tickangle: upright ? -90 : 0,
      showgrid: false, zeroline: false, showline: false, ticks: "", automargin: true, ticklabelstandoff: 4,
    };
  }

  function heat(chart, theme, width) {
    const count = chart.nodes.length;
    const cell = Math.max(1, (width - 70) / count);
    const size = Math.min(width, drawing.isPrinting() ? 620 : 860);
    const bar = {
      orientation: "h", x: 0.5, xanchor: "center", y: 0, yanchor: "top", ypad: 10, len: 1, thickness: 9,
      outlinewidth: 0, title: { text: chart.unit, side: "bottom", font: { size: 11, color: theme.soft } },
      tickfont: { size: 11, color: theme.soft }, nticks: 5,
    };
    if (chart.ticks.length) {
      Object.assign(bar, { tickvals: chart.ticks.map((t) => t[0]), ticktext: chart.ticks.map((t) => t[1]) });
    }
    const some = chart.z.some((row) => row.some((value) => value !== null));
    const traces = [{
      type: "heatmap", z: chart.z, zmin: chart.range[0], zmax: chart.range[1], zauto: chart.range[0] === null, text: chart.text, customdata: chart.hover,
      colorscale: CIVIDIS.map((colour, i) => [i / (CIVIDIS.length - 1), colour]),
      reversescale: !chart.yellowHigh, showscale: some, colorbar: bar,
      xgap: count <= 40 ? 1 : 0, ygap: count <= 40 ? 1 : 0,
      texttemplate: cell >= 34 ? "%{text}" : "", textfont: { size: cell >= 46 ? 12 : 10 },
      hovertemplate: "%{customdata}<extra></extra>", hoverongaps: true,
    }];
    if (chart.missing.length) {
      traces.push(hatched(chart.missing, theme.hatch, "/", count <= 40 ? 1 : 0));
      if (cell >= 14) {
        traces.push({
          type: "scatter", mode: "text", hoverinfo: "skip",
          x: chart.missing.map((c) => c[1]), y: chart.missing.map((c) => c[0]),
          text: chart.missing.map(([i, j]) => `<b>${chart.text[i][j]}</b>`), textfont: { size: 14, color: theme.ink },
        });
      }
    }
    if (chart.noisy.length && cell < 34) traces.push(hatched(chart.noisy, "rgba(128,128,128,0.9)", ".", 0));
    const layout = baseLayout(theme, width, size + 40);
    const range = [-0.5, count - 0.5];
    const free = count > 16 && !coarse;
    layout.xaxis = { ...nodeAxis(chart.nodes, "top", cell), range, fixedrange: !free, constrain: "domain" };
    layout.yaxis = {
      ...nodeAxis(chart.nodes, "left", cell), range: [range[1], range[0]], fixedrange: !free,
      scaleanchor: "x", constrain: "domain",
    };
    if (free) layout.dragmode = "zoom";
    return { traces, layout };
  }

  function logAxis(title, ticks, theme) {
    return {
      type: "log", title: { text: title, standoff: 6, font: { size: 11, color: theme.soft } },
      tickvals: ticks.map((t) => t[0]), ticktext: ticks.map((t) => t[1]), tickfont: { color: theme.soft },
      gridcolor: theme.line, zeroline: false, fixedrange: true, automargin: true, ticks: "",
    };
  }

  // An interval band, in pieces wherever a size has none.
  function band(one, colour) {
    const x = [], y = [];
    let from = 0;
    for (let i = 0; i <= one.x.length; i++) {
      if (i < one.x.length && one.low[i] && one.high[i]) continue;
      if (i > from) {
        const part = [...Array(i - from).keys()].map((k) => k + from);
        x.push(...part.map((k) => one.x[k]), ...part.reverse().map((k) => one.x[k]), null);
        part.reverse();
        y.push(...part.map((k) => one.high[k]), ...part.reverse().map((k) => one.low[k]), null);
      }
      from = i + 1;
    }
    return {
      type: "scatter", mode: "lines", x, y, fill: "toself", fillcolor: `${colour}40`, line: { width: 0.5, color: colour },
      hoverinfo: "skip", showlegend: false, name: "interval",
    };
  }

  function sweep(chart, theme, width) {
    const colours = SERIES[themeName()];
    const traces = [];
    chart.series.forEach((one, i) => {
      const colour = colours[i % colours.length];
      traces.push(band(one, colour));
      if (one.tail.length) {
        traces.push({
          type: "scatter", mode: "lines", x: one.x, y: one.tail, line: { color: colour, width: 1, dash: "dot" },
          hoverinfo: "skip", showlegend: false, name: "p99",
        });
      }
      traces.push({
        type: "scatter", mode: "lines+markers", x: one.x, y: one.y, name: one.name, customdata: one.hover,
        line: { color: colour, width: 1.2 },
        marker: {
          size: 7, color: one.noisy.map((noisy) => (noisy ? theme.paper : colour)), line: { color: colour, width: 1.5 },
        },
        hovertemplate: "%{customdata}<extra></extra>",
      });
    });
    const layout = baseLayout(theme, width, Math.round(Math.min(400, Math.max(260, width * 0.7))));
    const every = Math.max(1, Math.ceil((chart.xTicks.length * 54) / Math.max(54, width - 90)));
    layout.xaxis = logAxis(chart.xTitle, chart.xTicks.filter((_, i) => i % every === 0), theme);
    layout.xaxis.tickangle = 0;
    layout.yaxis = logAxis(chart.yTitle, chart.yTicks, theme);
    layout.hovermode = "closest";
    layout.hoverdistance = 40;
    layout.showlegend = chart.series.length > 1;
    layout.legend = { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 };
    return { traces, layout };
  }

  function strip(chart, theme, width) {
    const colour = SERIES[themeName()][0];
    const traces = [{
      type: "scatter", mode: "markers", x: chart.x, y: chart.y, customdata: chart.hover,
      marker: { size: 4, color: colour }, hovertemplate: "%{customdata}<extra></extra>",
    }];
    const layout = baseLayout(theme, width, 320);
    layout.xaxis = {
      title: { text: chart.xTitle, font: { size: 11, color: theme.soft } }, showticklabels: false, showgrid: false,
      zeroline: false, fixedrange: true,
    };
    layout.yaxis = logAxis(chart.yTitle, chart.yTicks, theme);
    return { traces, layout };
  }

  // What lies below a layer in grey, what it adds in colour; what it takes off is only outlined.
  function layers(chart, theme, width) {
    const colour = SERIES[themeName()][0];
    const names = chart.bars.map((bar) => bar.name);
    const part = (more) => ({
      type: "bar", orientation: "h", y: names, hoverinfo: "skip", customdata: chart.bars.map((bar) => bar.hover), ...more,
    });
    const traces = [
      part({ x: chart.bars.map((bar) => bar.base), marker: { color: theme.line } }),
      part({
        x: chart.bars.map((bar) => bar.added), hoverinfo: "all", hovertemplate: "%{customdata}<extra></extra>",
        marker: {
          color: chart.bars.map((bar) => (bar.less ? theme.paper : colour)),
          line: { color: colour, width: chart.bars.map((bar) => (bar.less ? 1 : 0)) },
        },
      }),
      {
        type: "scatter", mode: "markers", x: chart.bars.map((bar) => bar.value), y: names, hoverinfo: "skip",
        marker: { size: 1, color: theme.ink },
        error_x: {
          type: "data", symmetric: false, color: theme.ink, thickness: 1.2, width: 4,
          array: chart.bars.map((bar) => (bar.high === null ? 0 : bar.high - bar.value)),
          arrayminus: chart.bars.map((bar) => (bar.low === null ? 0 : bar.value - bar.low)),
        },
      },
      {
        type: "scatter", mode: "text", y: names, hoverinfo: "skip", cliponaxis: false, textposition: "middle right",
        x: chart.bars.map((bar) => Math.max(bar.high || 0, bar.base + bar.added)),
        text: chart.bars.map((bar) => ` ${bar.text}`), textfont: { color: theme.ink },
      },
    ];
    const layout = baseLayout(theme, width, 60 + 34 * names.length);
    const reach = Math.max(...chart.bars.map((bar) => Math.max(bar.high || 0, bar.base + bar.added)));
    layout.barmode = "stack";
    layout.bargap = 0.35;
    layout.xaxis = {
      title: { text: chart.xTitle, standoff: 6, font: { size: 11, color: theme.soft } }, range: [0, reach * (1 + 110 / width)],
      gridcolor: theme.line, zeroline: false, fixedrange: true, automargin: true, tickfont: { color: theme.soft },
    };
    layout.yaxis = { type: "category", fixedrange: true, automargin: true, ticks: "", showgrid: false };
    return { traces, layout };
  }

  const columns = (element) => (element.closest(".large") !== null ? 2 : 1);
  const start = (kinds) => drawing.start(kinds, columns);
  start({ heat, sweep, strip, layers });
  globalThis.wulfReport = { baseLayout, logAxis, band, themeName, SERIES, start };
})();
