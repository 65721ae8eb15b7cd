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
      head.classList.add("sorts");
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
  Array.prototype.forEach.call(document.querySelectorAll("table.copied"), copying);
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
  Array.prototype.forEach.call(document.querySelectorAll("g.read-outs"), function (group) {
    var svg = group.ownerSVGElement, hits = group.querySelectorAll("rect.hit"), at = -1;
    var line = document.createElementNS(svg.namespaceURI, "line");
    var words = document.createElement("p");
    words.className = "readout";
    words.setAttribute("aria-live", "polite");
    svg.parentNode.insertBefore(words, svg.nextSibling);
    svg.tabIndex = 0;
    function show(index) {
      if (index < 0 || index >= hits.length) return;
      var hit = hits[at = index];
      var x = +hit.getAttribute("x") + hit.getAttribute("width") / 2, y = +hit.getAttribute("y");
      line.setAttribute("class", "crosshair");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.setAttribute("y1", y);
      line.setAttribute("y2", y + +hit.getAttribute("height"));
      group.appendChild(line);
      words.textContent = hit.textContent;
    }
    svg.addEventListener("pointermove", function (event) { show(Array.prototype.indexOf.call(hits, event.target)); });
    svg.addEventListener("keydown", function (event) {
      if (event.key === "ArrowRight") show(at + 1);
      else if (event.key === "ArrowLeft") show(at - 1);
      else return;
      event.preventDefault();
    });
  });
  Array.prototype.forEach.call(document.querySelectorAll("details.other-unit"), function (other) {
    var first = other.previousElementSibling, second = other.querySelector("figure"), button = document.createElement("button");
    function turn(isFirst) {
      first.classList.toggle("hidden", !isFirst);
      second.classList.toggle("hidden", isFirst);
      (isFirst ? first : second).querySelector("h3").appendChild(button);
      button.textContent = isFirst ? "Show IOPS" : "Show MiB/s";
      button.onclick = function () { turn(!isFirst); button.focus(); };
    }
    other.open = true;
    other.classList.add("switched");
    turn(true);
  });
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.prototype.filter.call(document.querySelectorAll("details"), function (one) { return !one.open; });
    opened.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { opened.forEach(function (one) { one.open = false; }); });
})();
