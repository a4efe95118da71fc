// Above a table of records, a field that leaves those rows which have all of its words. No network.
(() => {
  "use strict";
  const table = document.getElementById("record-table");
  const rows = [...table.tBodies[0].rows];
  const line = Object.assign(document.createElement("p"), { className: "filter" });
  line.innerHTML = '<label for="filter">Filter</label> <input id="filter" type="search" autocomplete="off" ' +
    'placeholder="n3, udp, noisy …"> <output for="filter" id="filter-count"></output>';
  table.parentElement.before(line);
  const [, filter, count] = line.children;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
})();
