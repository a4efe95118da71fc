// Detours as timelines: who ran when, a bar a detour. With the tools of report.js. No network.
(() => {
  "use strict";
  const { baseLayout, themeName, SERIES, start } = wulfReport;

  function detours(chart, theme, width) {
    const colours = SERIES[themeName()];
    const traces = chart.classes.map((one, i) => ({
      type: "bar", orientation: "h", name: one.name, base: one.at, x: one.length, y: one.row, customdata: one.hover,
      marker: { color: one.plain ? theme.hatch : colours[i % colours.length], line: { width: 0 } },
      hovertemplate: "%{customdata}<extra></extra>",
    }));
    const layout = baseLayout(theme, width, 96 + 26 * chart.rows.length);
    Object.assign(layout, {
      barmode: "overlay", bargap: 0.35, showlegend: true,
      legend: {
        orientation: "h", xref: "container", yref: "container", x: 0, xanchor: "left", y: 1, yanchor: "top", font: { size: 11 },
      },
    });
    layout.margin.t = 46;
    layout.xaxis = {
      title: { text: chart.xTitle, standoff: 6, font: { size: 11, color: theme.soft } }, rangemode: "tozero",
      gridcolor: theme.line, zeroline: false, fixedrange: true, automargin: true, tickfont: { color: theme.soft }, nticks: 6,
    };
    layout.yaxis = {
      tickvals: chart.rows.map((_, i) => i), ticktext: chart.rows, range: [chart.rows.length - 0.4, -0.6],
      showgrid: false, zeroline: false, fixedrange: true, automargin: true, ticks: "",
    };
    return { traces, layout };
  }

  start({ detours });
})();
