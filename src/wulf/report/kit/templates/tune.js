// Draws each setting's effect with its interval, from the JSON beside it, in the reader's theme and width. No network.
(() => {
  "use strict";
  // Okabe and Ito's colours; symbols tell the series apart, too.
  const THEMES = {
    light: {
      ink: "#1b1e23", soft: "#5b626d", line: "#e3e6ea", box: "#ffffff", hatch: "#8a919c",
      series: ["#0072b2", "#d55e00", "#009e73"],
    },
    dark: {
      ink: "#e4e6ea", soft: "#a0a7b2", line: "#2c3138", box: "#22262d", hatch: "#7d8590",
      series: ["#56b4e9", "#ff8a3d", "#2fbf96"],
    },
  };
  const SYMBOLS = ["circle", "diamond-open", "square-open"];
  const APART = 0.22; // of a row, between the series of one setting
  const PRINT_WIDTH = 660; // CSS pixels of an A4 page within its margins
  const { baseLayout, start } = wulfDrawing(THEMES, PRINT_WIDTH);

  function trace(series, index, count, theme) {
    const colour = theme.series[index % theme.series.length];
    const shift = (index - (count - 1) / 2) * APART;
    const bound = (ends, sign) => series.x.map((x, i) => (ends[i] === null ? 0 : sign * (ends[i] - x)));
    return {
      type: "scatter", mode: "markers", name: series.name, x: series.x, y: series.row.map((row) => row + shift),
      customdata: series.hover, hovertemplate: "%{customdata}<extra></extra>",
      marker: { size: 9, color: colour, symbol: SYMBOLS[index % SYMBOLS.length], line: { width: 2, color: colour } },
      error_x: {
        type: "data", symmetric: false, width: 4, thickness: 1.6, color: colour,
        array: bound(series.high, 1), arrayminus: bound(series.low, -1),
      },
    };
  }

  function series(chart, theme, width) {
    const rows = chart.names.length;
    const layout = {
      ...baseLayout(theme, width, 110 + 46 * rows),
      margin: { l: 8, r: 10, t: 10, b: 8 },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
      xaxis: {
        title: { text: chart.xTitle, standoff: 8, font: { size: 12, color: theme.soft } },
        tickfont: { size: 11, color: theme.soft }, gridcolor: theme.line, fixedrange: true, automargin: true,
        zeroline: true, zerolinecolor: theme.ink, zerolinewidth: 1.5,
      },
      yaxis: {
        tickvals: chart.names.map((_, i) => i), ticktext: chart.names, range: [rows - 0.5, -0.5],
        tickfont: { size: 12, color: theme.ink }, gridcolor: theme.line, zeroline: false, fixedrange: true,
        automargin: true,
      },
    };
    return { traces: chart.series.map((one, i) => trace(one, i, chart.series.length, theme)), layout };
  }

  start({ effects: series });
})();
