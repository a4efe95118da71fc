// The charts of wulf-node's sections, drawn with the tools of report.js. No network.
(() => {
  "use strict";
  const { baseLayout, logAxis, band, themeName, SERIES, start } = wulfReport;
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "x", "star"];
  const GAP = 0.05; // between two panels, of the height of all
  const LEGEND = {
    orientation: "h", xref: "container", yref: "container", x: 0, xanchor: "left", y: 1, yanchor: "top", font: { size: 11 },
  };

  // How many lines of the legend the names take: Plotly wraps them, but leaves no room for it.
  const legendRows = (names, width) => {
    let rows = 1, filled = 0;
    for (const name of names) {
      const needed = name.length * 6.6 + 46;
      if (filled > 0 && filled + needed > width - 10) {
        rows += 1;
        filled = 0;
      }
      filled += needed;
    }
    return rows;
  };

  const colourOf = (i) => SERIES[themeName()][i % SERIES.light.length];

  function bars(one, colour, axis) {
    const difference = (a, b) => a.map((value, i) => (value === null || b[i] === null ? 0 : value - b[i]));
    return {
      type: "data", symmetric: false, color: colour, thickness: 1.2, width: 3,
      array: difference(one.high, one[axis]), arrayminus: difference(one[axis], one.low),
    };
  }

  function points(one, theme) {
    const colour = colourOf(one.colour);
    const trace = {
      type: "scatter", mode: "lines+markers", x: one.x, y: one.y, name: one.name, customdata: one.hover,
      line: { color: colour, width: 1.2, dash: one.dashed ? "dash" : "solid" },
      marker: {
        size: 6, symbol: SYMBOLS[one.colour % SYMBOLS.length], line: { color: colour, width: 1.3 },
        color: one.noisy.map((noisy) => (noisy ? theme.paper : colour)),
      },
      hovertemplate: "%{customdata}<extra></extra>",
    };
    if (one.style === "bars") trace.error_y = bars(one, colour, "y");
    return trace;
  }

  // Where caches end: a line through all panels, with its interval behind it; a point at its top tells what it is.
  function marks(chart, theme, layout) {
    const over = (more) => ({ xref: "x", yref: "paper", y0: 0, y1: 1, layer: "below", ...more });
    for (const mark of chart.marks) {
      if (mark.found && mark.low && mark.high) {
        layout.shapes.push(over({ type: "rect", x0: mark.low, x1: mark.high, fillcolor: theme.hatch, opacity: 0.22, line: { width: 0 } }));
      }
      const line = { color: mark.found ? theme.ink : theme.soft, width: 1, dash: mark.found ? "solid" : "dash" };
      layout.shapes.push(over({ type: "line", x0: mark.x, x1: mark.x, line }));
    }
    for (const found of [true, false]) {
      const own = chart.marks.filter((mark) => mark.found === found);
      const known = found ? [] : chart.marks.filter((mark) => mark.found).map((mark) => mark.name);
      for (const mark of own.filter((one) => !known.includes(one.name))) {
        layout.annotations.push({
          x: Math.log10(mark.x), xref: "x", y: 1, yref: "paper", text: mark.name, showarrow: false, yanchor: "bottom",
          font: { size: 11, color: theme.ink },
        });
      }
    }
  }

  function panels(chart, theme, width) {
    const traces = [];
    const layout = baseLayout(theme, width, 0);
    Object.assign(layout, { shapes: [], annotations: [], hoverdistance: 30 });
    const shares = chart.panels.map((panel) => panel.share);
    const total = shares.reduce((a, b) => a + b, 0);
    const free = 1 - GAP * (shares.length - 1);
    const named = new Set();
    let top = 1;
    chart.panels.forEach((panel, i) => {
      const number = i ? String(i + 1) : "";
      const height = (shares[i] / total) * free;
      panel.series.forEach((one) => {
        const place = { xaxis: "x", yaxis: `y${number}` };
        if (one.style === "band") traces.push({ ...band(one, colourOf(one.colour)), ...place });
        const group = one.name.split(", ")[0]; // dashes tell a kind of stores, the legend the kernel
        traces.push({ ...points(one, theme), showlegend: !named.has(group), legendgroup: group, ...place });
        named.add(group);
      });
      layout[`yaxis${number}`] = {
        ...logAxis(panel.title, panel.ticks, theme), domain: [Math.max(0, top - height), top], anchor: "x",
        title: { text: panel.title.replace(", ", ",<br>"), standoff: 6, font: { size: 11, color: theme.soft } },
      };
      top -= height + GAP;
    });
    const every = Math.max(1, Math.ceil((chart.xTicks.length * 58) / Math.max(58, width - 90)));
    const last = chart.xTicks.length - 1;
    layout.xaxis = {
      ...logAxis(chart.xTitle, chart.xTicks.filter((_, i) => (last - i) % every === 0), theme),
      anchor: shares.length > 1 ? `y${shares.length}` : "y", tickangle: 0,
    };
    marks(chart, theme, layout);
    layout.showlegend = true;
    const rows = legendRows([...named], width);
    layout.height = Math.round(90 + 20 * rows + total * (shares.length > 1 ? 165 : 260));
    layout.margin.t = 26 + 20 * rows;
    layout.legend = LEGEND;
    return { traces, layout };
  }

  // A line a name, a point a series; several points of one line stand a little apart.
  function dots(chart, theme, width) {
    const many = chart.series.length;
    const step = many > 1 ? 0.6 / many : 0;
    const traces = chart.series.map((one, i) => {
      const colour = colourOf(i);
      return {
        type: "scatter", mode: "markers", name: one.name, x: one.x, customdata: one.hover,
        y: one.x.map((_, row) => row + (i - (many - 1) / 2) * step),
        marker: {
          size: 8, symbol: SYMBOLS[i % SYMBOLS.length], line: { color: colour, width: 1.5 },
          color: one.noisy.map((noisy) => (noisy ? theme.paper : colour)),
        },
        error_x: bars(one, colour, "x"), hovertemplate: "%{customdata}<extra></extra>",
      };
    });
    const rows = many > 1 ? legendRows(chart.series.map((one) => one.name), width) : 0;
    const layout = baseLayout(theme, width, Math.max(110, 58 + 20 * rows + chart.names.length * Math.max(20, 9 * many + 6)));
    const title = { text: chart.xTitle, standoff: 6, font: { size: 11, color: theme.soft } };
    layout.xaxis = chart.log
      ? logAxis(chart.xTitle, chart.ticks, theme)
      : { title, rangemode: "tozero", gridcolor: theme.line, zeroline: false, fixedrange: true, automargin: true,
          tickfont: { color: theme.soft }, nticks: 5 };
    layout.xaxis.tickangle = 0;
    layout.yaxis = {
      tickvals: chart.names.map((_, i) => i), ticktext: width < 420 ? chart.short : chart.names,
      range: [chart.names.length - 0.4, -0.6], gridcolor: theme.line, zeroline: false, fixedrange: true,
      automargin: true, ticks: "",
    };
    layout.showlegend = many > 1;
    layout.margin.t = 10 + 20 * rows;
    layout.legend = LEGEND;
    layout.hoverdistance = 30;
    return { traces, layout };
  }

  start({ panels, dots });
})();
