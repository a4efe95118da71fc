// Draws nodes over days, and what measuring cost, from the JSON beside it, in the reader's theme and width. No network.
(() => {
  "use strict";
  // Okabe and Ito's orange and blue, told apart with every kind of colour vision; what is as it was is nearly the paper.
  const THEMES = {
    light: {
      ink: "#1b1e23", soft: "#5b626d", line: "#e3e6ea", box: "#ffffff", hatch: "#8a919c", paper: "#fdfdfc",
      same: "#e9ecef", worse: ["#f6c49f", "#e07b2e", "#9c3b00"], better: ["#afd3ee", "#4a9ad0", "#0a4d82"],
      series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"],
    },
    dark: {
      ink: "#e4e6ea", soft: "#a0a7b2", line: "#2c3138", box: "#22262d", hatch: "#7d8590", paper: "#14161a",
      same: "#2a2f37", worse: ["#6b4020", "#c96a1c", "#ffb37a"], better: ["#1f4a68", "#3f8fc4", "#a9dcff"],
      series: ["#56b4e9", "#e69f00", "#2fbf96", "#e39cc4", "#5a9bd8", "#ff8a3d"],
    },
  };
  const PRINT_WIDTH = 660; // CSS pixels of an A4 page within its margins
  const { baseLayout, start, isPrinting } = wulfDrawing(THEMES, PRINT_WIDTH);

  const dayAxis = (theme) => ({
    type: "date", showgrid: false, zeroline: false, fixedrange: true, automargin: true, ticks: "outside", ticklen: 4,
    tickcolor: theme.hatch, tickfont: { size: 11, color: theme.soft }, tickformat: "%-d %b\n%Y", hoverformat: "%Y-%m-%d",
    tickangle: 0, nticks: 8,
  });

  // From so much better to so much worse; around 0, where nothing stands out, as it was.
  function colours(theme) {
    const [near, far, farthest] = theme.worse;
    const [good, finer, finest] = theme.better;
    return [
      [0, finest], [0.2, finer], [0.44, good], [0.4501, theme.same], [0.5499, theme.same], [0.56, near], [0.8, far],
      [1, farthest],
    ];
  }

  function marks(chart, theme, open) {
    const own = chart.marks.filter((mark) => mark.open === open);
    return {
      type: "scatter", mode: "markers", x: own.map((mark) => mark.day), y: own.map((mark) => mark.row),
      customdata: own.map((mark) => mark.hover), hovertemplate: "%{customdata}<extra></extra>",
      name: open ? "change, incident open" : "change, incident closed",
      marker: {
        symbol: own.map((mark) => (mark.worse ? "triangle-up" : "triangle-down")), size: 11,
        color: open ? theme.ink : theme.paper, line: { color: open ? theme.paper : theme.ink, width: 1.5 },
      },
    };
  }

  function days(chart, theme, width) {
    const count = chart.rows.length;
    const pixels = isPrinting() ? Math.min(14, 860 / count) : Math.min(22, Math.max(10, 1000 / count));
    const shown = width < 500 ? chart.short : chart.rows;
    const every = Math.max(1, Math.ceil(13 / pixels));
    const text = chart.z.map((row) => row.map((value) => (value === null ? "not measured" : "as it was")));
    for (const [i, j, metric] of chart.told) {
      const value = chart.z[i][j];
      text[i][j] = `${chart.metrics[metric]}: ${Math.abs(value)} % ${value > 0 ? "worse" : "better"}`;
    }
    const traces = [
      {
        type: "heatmap", x: chart.days, y: chart.rows.map((_, i) => i), z: chart.z, zmin: -30, zmax: 30,
        colorscale: colours(theme), customdata: text.map((row, i) => row.map((said) => `<b>${chart.rows[i]}</b>, ${chart.classes[i]}<br>${said}`)),
        hovertemplate: "%{customdata}<br>%{x|%Y-%m-%d}<extra></extra>", hoverongaps: false,
        xgap: width / chart.days.length > 6 ? 1 : 0, ygap: pixels >= 9 ? 1 : 0,
        colorbar: {
          orientation: "h", x: 0.5, xanchor: "center", y: 0, yanchor: "top", ypad: 46, len: 0.9, thickness: 9, outlinewidth: 0,
          tickvals: [-30, -15, 0, 15, 30], ticktext: ["30 % better", "15 %", "as it was", "15 %", "30 % worse"],
          tickfont: { size: 11, color: theme.soft },
        },
      },
      marks(chart, theme, true), marks(chart, theme, false),
    ];
    const layout = baseLayout(theme, width, Math.round(count * pixels + 132));
    layout.margin = { l: 8, r: 14, t: 30, b: 8 };
    layout.xaxis = { ...dayAxis(theme), nticks: width < 500 ? 4 : 8 };
    layout.yaxis = {
      tickvals: shown.map((_, i) => i).filter((i) => i % every === 0), ticktext: shown.filter((_, i) => i % every === 0),
      tickfont: { size: 11 }, range: [count - 0.5, -0.5], showgrid: false, zeroline: false, fixedrange: true,
      automargin: true, ticks: "", ticklabelstandoff: 4,
    };
    layout.showlegend = chart.marks.length > 0;
    layout.legend = { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom", font: { size: 11 } };
    traces[0].showlegend = false;
    return { traces, layout };
  }

  function spent(chart, theme, width) {
    const traces = chart.series.map((one, i) => ({
      type: "bar", x: chart.days, y: one.y, name: one.name, marker: { color: theme.series[i % theme.series.length] },
      hovertemplate: `<b>${one.name}</b><br>%{x|%Y-%m-%d}: %{y:.0f} node-minutes<extra></extra>`,
    }));
    const layout = baseLayout(theme, width, 260);
    layout.margin = { l: 8, r: 14, t: 26, b: 8 };
    layout.barmode = "stack";
    layout.bargap = 0.1;
    layout.xaxis = { ...dayAxis(theme), nticks: width < 500 ? 4 : 8 };
    layout.yaxis = {
      title: { text: "node-minutes a day", standoff: 6, font: { size: 11, color: theme.soft } }, rangemode: "tozero",
      tickfont: { size: 11, color: theme.soft }, gridcolor: theme.line, zeroline: false, fixedrange: true, automargin: true,
      nticks: 5,
    };
    layout.showlegend = chart.series.length > 1;
    layout.legend = { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom", font: { size: 11 } };
    return { traces, layout };
  }

  start({ days, spent });
})();
