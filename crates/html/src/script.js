"use strict";
(function () {
  var units = { B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776, ns: 1, us: 1e3, ms: 1e6, s: 1e9, k: 1e3, M: 1e6, G: 1e9 };
  function value(text) {
    var found = /^(-?[\d.]+)\s*([A-Za-z]*)/.exec(text.trim());
    return found ? parseFloat(found[1]) * (units[found[2]] || 1) : NaN;
  }
  function order(table, column, down) {
    var rows = Array.prototype.slice.call(table.tBodies[0].rows);
    rows.sort(function (one, other) {
      var a = one.cells[column].textContent, b = other.cells[column].textContent;
      var x = value(a), y = value(b);
      var less = isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
      return down ? -less : less;
    });
    rows.forEach(function (row) { table.tBodies[0].appendChild(row); });
  }
  function sorting(table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      var down = false;
      head.tabIndex = 0;
      head.className = "sorts";
      function turn() {
        down = !down;
        order(table, column, down);
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
      }
      head.addEventListener("click", turn);
      head.addEventListener("keydown", function (event) { if (event.key === "Enter") turn(); });
    });
  }
  function copying(table) {
    var button = document.createElement("button");
    button.textContent = "Copy as CSV";
    button.addEventListener("click", function () {
      var lines = Array.prototype.map.call(table.rows, function (row) {
        return Array.prototype.map.call(row.cells, function (cell) {
          return '"' + cell.textContent.trim().replace(/"/g, '""') + '"';
        }).join(",");
      });
      navigator.clipboard.writeText(lines.join("\r\n")).then(function () { button.textContent = "Copied"; });
    });
    table.parentNode.insertBefore(button, table);
  }
  Array.prototype.forEach.call(document.querySelectorAll("table.sortable"), function (table) {
    sorting(table);
    copying(table);
  });
  Array.prototype.forEach.call(document.querySelectorAll("g.key"), function (key) {
    key.setAttribute("tabindex", "0");
    key.setAttribute("role", "button");
    key.style.cursor = "pointer";
    function turn() {
      var off = key.style.opacity === "0.4";
      key.style.opacity = off ? "" : "0.4";
      var all = key.ownerSVGElement.querySelectorAll('[data-series="' + key.getAttribute("data-series") + '"]');
      Array.prototype.forEach.call(all, function (one) {
        if (one !== key) one.classList.toggle("hidden", !off);
      });
    }
    key.addEventListener("click", turn);
    key.addEventListener("keydown", function (event) { if (event.key === "Enter") turn(); });
  });
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.prototype.filter.call(document.querySelectorAll("details.finding-line"), function (one) { return !one.open; });
    opened.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { opened.forEach(function (one) { one.open = false; }); });
})();
