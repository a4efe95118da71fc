// What ranks do over time: aggregated first; a stretch that is dragged over is drawn from the finer level. No network.
(() => {
  "use strict";
  const { baseLayout, start } = wulfModel;
  const MOST_COLUMNS = 600; // of what is drawn at once
  const FULL = 200; // a byte that stands for all of a bucket
  const shown = new Map(); // chart → the stretch that is zoomed to

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

  function decoded(chart) {
    chart.levels.forEach((level) => {
      level.parts ??= level.data.map(bytes);
    });
    return chart.levels;
  }

  // The coarsest level that has a bucket for every column of the stretch; else the finest.
  function levelFor(chart, from, to) {
    const levels = decoded(chart);
    return levels.find((level) => (to - from) / level.bucket >= MOST_COLUMNS / 3) ?? levels[levels.length - 1];
  }

  // The columns of a stretch: neighbouring buckets are put together where there are too many.
  function columns(chart, from, to) {
    const level = levelFor(chart, from, to);
    const first = Math.max(0, Math.floor(from / level.bucket));
    const last = Math.min(level.buckets, Math.ceil(to / level.bucket));
    const together = Math.max(1, Math.ceil((last - first) / MOST_COLUMNS));
    const x = [];
    for (let at = first; at < last; at += together) x.push((at + Math.min(together, last - at) / 2) * level.bucket);
    const mean = (part, row, at) => {
      const end = Math.min(last, at + together);
      let sum = 0;
      for (let i = at; i < end; i += 1) sum += level.parts[part][row * level.buckets + i];
      return sum / (end - at) / FULL;
    };
    const z = [];
    const text = [];
    for (let row = 0; row < chart.rows.length; row += 1) {
      z.push([]);
      text.push([]);
      for (let at = first; at < last; at += together) {
        const [compute, overhead, waiting] = chart.parts.map((_, part) => mean(part, row, at));
        z[row].push(compute + overhead + waiting > 0 ? overhead + waiting : null);
        text[row].push(chart.parts.map((name, part) => `${name} ${Math.round(100 * [compute, overhead, waiting][part])} %`)
          .join("<br>"));
      }
    }
    return { x, z, text };
  }

  function watch(chart) {
    const element = document.getElementById(chart.id);
    if (!element.on || element.dataset.watched) return;
    element.dataset.watched = "1";
    element.on("plotly_relayout", (change) => {
      const own = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      if (change["xaxis.autorange"]) shown.delete(chart.id);
      else if (own[0] !== undefined) shown.set(chart.id, [Math.max(0, own[0]), Math.min(chart.end, own[1])]);
      else return;
      const { x, z, text } = columns(chart, ...(shown.get(chart.id) ?? [0, chart.end]));
      Plotly.restyle(element, { x: [x], z: [z], customdata: [text] }, [0]);
    });
  }

  function timeline(chart, theme, width) {
    const stretch = shown.get(chart.id) ?? [0, chart.end];
    const { x, z, text } = columns(chart, ...stretch);
    setTimeout(() => watch(chart), 0); // once Plotly has made the element its own
    const heat = {
      type: "heatmap", x, y: chart.rows.map((_, i) => i), z, customdata: text, zmin: 0, zmax: 1, zsmooth: false,
      colorscale: [[0, theme.line], [1, theme.curves[1]]], name: "",
      colorbar: { title: { text: "not computing", side: "right" }, tickformat: ".0%", thickness: 10, outlinewidth: 0 },
      hovertemplate: "ranks %{y}<br>%{x:.4g} " + chart.unit + "<br>%{customdata}<extra></extra>",
    };
    const path = {
      type: "scatter", mode: "lines", name: "critical path", x: chart.path.x, y: chart.path.y, text: chart.path.text,
      line: { color: theme.curves[0], width: 2 }, hovertemplate: "%{text}<extra></extra>", connectgaps: false,
    };
    const step = Math.max(1, Math.ceil(chart.rows.length / 16));
    const ticks = chart.rows.map((_, i) => i).filter((i) => i % step === 0);
    const axis = { gridcolor: theme.line, zeroline: false, tickfont: { size: 11, color: theme.soft }, automargin: true };
    const title = (said) => ({ text: said, standoff: 8, font: { size: 12, color: theme.soft } });
    const layout = {
      ...baseLayout(theme, width, Math.round(Math.min(640, Math.max(260, 120 + 18 * chart.rows.length)))),
      dragmode: "zoom", margin: { l: 8, r: 10, t: 10, b: 8 }, showlegend: false,
      xaxis: { ...axis, title: title(`time [${chart.unit}]`), range: stretch, fixedrange: false },
      yaxis: {
        ...axis, title: title("rank"), autorange: "reversed", fixedrange: true, tickvals: ticks,
        ticktext: ticks.map((i) => chart.rows[i]),
      },
    };
    return { traces: [heat, path], layout };
  }

  start({ timeline });
})();
