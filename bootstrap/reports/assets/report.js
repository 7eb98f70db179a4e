"use strict";
// Draws the figures of the page with ECharts. The data are in the element "figures".
(() => {
  const data = JSON.parse(document.getElementById("figures").textContent);
  const INK = "#1b1f24", SOFT = "#57606a", LINE = "#d8dee4";
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
  const charts = [];

  // Patterns of bars that stand on others, and of their keys in the legend.
  const WHITE = "rgba(255,255,255,0.7)", QUARTER = Math.PI / 4;
  const lines = (rotation) => ({ symbol: "rect", color: WHITE, dashArrayX: [1, 0], dashArrayY: [1.5, 5], rotation });
  const DECALS = {
    "/": lines(-QUARTER), "\\": lines(QUARTER), "-": lines(0), "|": lines(2 * QUARTER),
    ".": { symbol: "circle", color: WHITE, dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], symbolSize: 0.55 },
    x: { symbol: "rect", color: WHITE, dashArrayX: [[4, 4], [0, 4, 4, 0]], dashArrayY: [4, 0], symbolSize: 0.8 },
    "+": { symbol: "rect", color: WHITE, dashArrayX: [[2, 6]], dashArrayY: [2, 6] },
    o: { symbol: "circle", color: WHITE, dashArrayX: [[7, 3]], dashArrayY: [7, 3], symbolSize: 0.8 },
  };
  const KEYS = {
    "/": "M9 9l7-7M13 12l7-7", "\\": "M9 5l7 7M13 2l7 7", "-": "M8 5h13M8 9h13", "|": "M12 1v12M17 1v12",
    ".": "M10.5 5h1.5M16.5 5h1.5M13.5 9h1.5", x: "M10 3l3 3M16 3l3 3M13 8l3 3M10 11l1 1", "+": "M10 4h2M16 4h2M10 9h2M16 9h2", o: "M11 7h2M16 7h2",
  };

  const styleOf = (series) => data.styles[series.style % data.styles.length];
  const hasNames = (axis) => axis.names.length > 0;
  const isBar = (series) => series.mark === "bars" || series.mark === "stack";

  function number(value, axis) {
    if (axis.percent) return (100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0) + " %";
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(+value.toFixed(3));
  }

  function placeName(place, axis) {
    return hasNames(axis) ? axis.names[Math.round(place)] ?? "" : number(place, axis);
  }

  // Axes

  function valueAxis(axis, width, horizontal) {
    return {
      type: "value",
      min: axis.low ?? undefined, max: axis.high ?? undefined, scale: axis.low === null,
      minInterval: axis.whole ? 1 : undefined, interval: axis.step ?? undefined,
      splitNumber: horizontal ? Math.max(2, Math.min(8, Math.floor(width / 90))) : 5,
      axisLabel: {
        color: SOFT, fontSize: 12, hideOverlap: true, showMinLabel: null, showMaxLabel: null,
        formatter: (value) => axis.whole && !Number.isInteger(value) ? "" : number(value, axis),
      },
      axisLine: { show: true, onZero: false, lineStyle: { color: LINE } }, axisTick: { show: false },
      splitLine: { lineStyle: { color: "#eaeef2" } },
    };
  }

  // Long names of rows are broken into two lines after an underscore, a space or a slash.
  function broken(name, width) {
    const most = Math.max(8, Math.floor(width / 7));
    if (name.length <= most) return name;
    const cut = Math.max(name.lastIndexOf("_", most - 1), name.lastIndexOf(" ", most - 1), name.lastIndexOf("/", most - 1)) + 1;
    const at = cut > most / 3 ? cut : most, rest = name.slice(at);
    return name.slice(0, at) + "\n" + (rest.length > most ? rest.slice(0, most - 1) + "\u2026" : rest);
  }

  function rowLabels(axis, width) {
    const label = Math.min(215, Math.floor(width * 0.38));
    return { color: INK, fontSize: label < 160 ? 11 : 12, lineHeight: 12, interval: 0,
      formatter: (value) => broken(typeof value === "number" ? axis.names[value] ?? "" : value, label) };
  }

  function categoryAxis(axis, width, rows) {
    return {
      type: "category", data: axis.names, inverse: rows,
      axisLabel: rows ? rowLabels(axis, width) : { color: INK, fontSize: 12, hideOverlap: true },
      axisLine: { lineStyle: { color: LINE } }, axisTick: { show: false },
    };
  }

  // Places with names that points are beside of: numbers 0, 1, 2 ... with labels.
  function namedValueAxis(axis, width, rows) {
    const last = axis.names.length - 1;
    const places = axis.names.map((_, place) => place);
    return {
      type: "value", min: -0.5, max: last + 0.5, inverse: rows, interval: 1,
      axisLabel: {
        customValues: places,
        ...(rows ? rowLabels(axis, width)
          : { color: INK, fontSize: 12, hideOverlap: true, formatter: (value) => axis.names[value] ?? "" }),
      },
      axisTick: { show: false }, axisLine: { onZero: false, lineStyle: { color: LINE } },
      splitLine: { show: rows, lineStyle: { color: "#eaeef2" } },
    };
  }

  function placeAxis(figure, panel, width) {
    if (!hasNames(figure.places)) return valueAxis(figure.places, width, !figure.rows);
    const bars = panel.series.some(isBar);
    return (bars ? categoryAxis : namedValueAxis)(figure.places, width, figure.rows);
  }

  // Series

  // Series of one group stand beside each other in a row.
  function shifted(figure, panel, series) {
    const points = panel.series.filter((each) => each.mark === "points");
    if (!hasNames(figure.places) || series.mark !== "points" || points.length < 2) return series.places;
    // Unless each point has a row of its own.
    const taken = points.flatMap((each) => each.places);
    if (new Set(taken).size === taken.length) return series.places;
    const step = Math.min(0.22, 0.7 / points.length);
    const shift = (points.indexOf(series) - (points.length - 1) / 2) * step;
    return series.places.map((place) => place + shift);
  }

  function xy(figure, place, value) {
    return figure.rows ? [value, place] : [place, value];
  }

  function mainSeries(figure, panel, series, small) {
    const style = styleOf(series);
    const common = { name: series.name, animation: false, emphasis: { disabled: true }, itemStyle: { color: style.color } };
    if (isBar(series)) {
      return {
        ...common, type: "bar", stack: series.mark === "stack" ? "all" : undefined, data: series.values,
        barMaxWidth: 56, barCategoryGap: panel.series.length > 1 || small ? "25%" : "20%",
        itemStyle: { color: style.color, borderColor: "#fff", borderWidth: series.mark === "stack" ? 0.75 : 0,
          decal: series.mark === "stack" ? DECALS[style.hatch[0]] : undefined },
      };
    }
    const places = shifted(figure, panel, series);
    const notes = Object.fromEntries(series.notes);
    const points = places.map((place, index) => ({
      value: xy(figure, place, series.values[index]),
      label: notes[index] === undefined ? undefined
        : { show: true, formatter: notes[index], position: "top", color: INK, fontSize: 12, fontWeight: 600 },
    })).map((point, index) => (series.values[index] === null ? { value: ["-", "-"] } : point));
    if (series.mark === "points") {
      return { ...common, type: "scatter", data: points, symbol: style.symbol, symbolSize: small ? 7 : 9, z: 5,
        itemStyle: { color: style.color, opacity: 1 } };
    }
    const guide = series.mark === "guide";
    return {
      ...common, type: "line", data: points, showSymbol: !guide, symbol: style.symbol, z: guide ? 2 : 5,
      symbolSize: small ? 5 : 8, silent: guide, connectNulls: false,
      lineStyle: { color: style.color, width: guide ? 1.5 : small ? 1.75 : 2.25,
        type: guide ? [5, 4] : style.dash.length ? style.dash : "solid" },
    };
  }

  function whiskers(figure, panel, series) {
    const style = styleOf(series), places = shifted(figure, panel, series), points = [];
    places.forEach((place, index) => {
      if (series.low[index] === null || series.low[index] === undefined) return;
      points.push(xy(figure, place, series.low[index]), xy(figure, place, series.high[index]), ["-", "-"]);
    });
    return [{
      name: series.name, type: "line", data: points, showSymbol: false, silent: true, animation: false, z: 3,
      connectNulls: false, lineStyle: { color: style.color, width: 2.5, opacity: 0.45, type: "solid" },
      tooltip: { show: false },
    }];
  }

  function band(figure, series) {
    const style = styleOf(series);
    const shared = { name: series.name, type: "line", stack: "band " + series.name, stackStrategy: "all", symbol: "none",
      silent: true, animation: false, lineStyle: { opacity: 0 }, z: 1, tooltip: { show: false } };
    const known = series.places.map((_, index) => index).filter((index) => series.low[index] !== null);
    return [
      { ...shared, data: known.map((index) => [series.places[index], series.low[index]]) },
      { ...shared, data: known.map((index) => [series.places[index], series.high[index] - series.low[index]]),
        areaStyle: { color: style.color, opacity: 0.16 } },
    ];
  }

  function intervals(figure, panel, series) {
    if (!series.low.length) return [];
    const alone = series.places.length === 1 || series.mark === "points";
    return alone ? whiskers(figure, panel, series) : band(figure, series);
  }

  // Tooltips are elements, not HTML: names are shown as they are.
  function tooltip(figure, panel, place, only) {
    const box = document.createElement("div");
    const title = document.createElement("strong");
    title.textContent = (figure.rows ? "" : figure.places.title + " ") + placeName(place, figure.places);
    box.append(title);
    for (const series of panel.series) {
      if (series.mark === "guide" || (only && series !== only)) continue;
      series.places.forEach((at, index) => {
        if (at !== place || series.values[index] === null) return;
        const line = document.createElement("div");
        const low = series.low[index], high = series.high[index];
        const range = low === undefined || low === null ? ""
          : " (" + number(low, figure.values) + " to " + number(high, figure.values) + ")";
        line.textContent = series.name + ": " + number(series.values[index], figure.values) + range;
        box.append(line);
      });
    }
    return box;
  }

  function optionOf({ figure, panel: whole, hidden }, width) {
    const small = figure.panels.length > 3;
    const panel = { series: whole.series.filter((series) => !hidden.has(series.name)) };
    const places = placeAxis(figure, whole, width), values = valueAxis(figure.values, width, figure.rows);
    if (small) values.splitNumber = 2;
    const byPlace = whole.series.some((series) => isBar(series) || series.mark === "line");
    const mains = panel.series.map((series) => mainSeries(figure, panel, series, small));
    return {
      animation: false, textStyle: { fontFamily: FONT }, legend: { show: false },
      grid: { left: 4, right: 14, top: panel.series.some((series) => series.notes.length) ? 18 : 8, bottom: 4,
        outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: figure.rows ? values : places, yAxis: figure.rows ? places : values,
      tooltip: {
        trigger: byPlace ? "axis" : "item", confine: true, backgroundColor: "#fff", borderColor: LINE,
        textStyle: { color: INK, fontSize: 13 }, axisPointer: { type: whole.series.some(isBar) ? "shadow" : "line", axis: figure.rows ? "y" : "x" },
        formatter: (found) => {
          const first = Array.isArray(found) ? found[0] : found;
          if (!first) return "";
          if (whole.series.some(isBar)) return tooltip(figure, panel, first.dataIndex);
          const series = panel.series.find((each) => each.name === first.seriesName);
          const place = series.places[first.dataIndex] ?? first.axisValue;
          return tooltip(figure, panel, byPlace ? first.axisValue : place, byPlace ? null : series);
        },
      },
      series: [...mains, ...panel.series.flatMap((series) => intervals(figure, panel, series))],
    };
  }

  // Charts

  function heightOf(figure, width) {
    if (figure.rows) return 36 + Math.max(3, figure.places.names.length) * (width < 500 ? 28 : 25);
    if (figure.panels.length > 3) return 150;
    return Math.max(220, Math.min(330, Math.round(width * 0.62)));
  }

  function draw(chart, width) {
    const { element, figure } = chart;
    if (!width) return;
    const height = heightOf(figure, width);
    if (chart.instance && chart.width === width) return;
    element.style.height = height + "px";
    chart.instance ??= echarts.init(element, null, { renderer: "svg", width, height });
    chart.instance.resize({ width, height });
    chart.instance.setOption(optionOf(chart, width), true);
    chart.instance.getZr().flush();
    chart.width = width;
    // Without it, a chart would keep its size on paper.
    const svg = element.querySelector("svg");
    if (svg) svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  }

  const SYMBOLS = {
    circle: "M14 2a4.5 4.5 0 1 0 .01 0z", rect: "M10 2.5h9v9h-9z", triangle: "M14.5 2l5 9.5h-10z", diamond: "M14.5 1l5 6-5 6-5-6z",
    pin: "M14.5 12.5l-4.5-6a4.6 4.6 0 1 1 9 0z", emptyCircle: "M14 2a4.5 4.5 0 1 0 .01 0z", emptyRect: "M10 2.5h9v9h-9z",
    emptyTriangle: "M14.5 2l5 9.5h-10z", emptyDiamond: "M14.5 1l5 6-5 6-5-6z",
  };

  function swatch(series) {
    const namespace = "http://www.w3.org/2000/svg", style = styleOf(series);
    const svg = document.createElementNS(namespace, "svg");
    const add = (name, attributes) => {
      const element = document.createElementNS(namespace, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      svg.append(element);
    };
    svg.setAttribute("width", "29"); svg.setAttribute("height", "14"); svg.setAttribute("aria-hidden", "true");
    if (isBar(series)) {
      add("rect", { x: 8, y: 1, width: 13, height: 12, fill: style.color });
      const key = series.mark === "stack" ? KEYS[style.hatch[0]] : undefined;
      if (key) add("path", { d: key, stroke: WHITE, "stroke-width": 1.5, fill: "none" });
      return svg;
    }
    if (series.mark !== "points") {
      add("line", { x1: 0, x2: 29, y1: 7, y2: 7, stroke: style.color, "stroke-width": 2,
        "stroke-dasharray": series.mark === "guide" ? "5 4" : style.dash.join(" ") });
    }
    if (series.mark !== "guide") {
      const empty = style.symbol.startsWith("empty");
      add("path", { d: SYMBOLS[style.symbol], fill: empty ? "#fff" : style.color, stroke: style.color, "stroke-width": empty ? 2 : 0 });
    }
    return svg;
  }

  function legend(figure, element, own) {
    const first = new Map();
    for (const panel of figure.panels) for (const series of panel.series) if (!first.has(series.name)) first.set(series.name, series);
    if (first.size < 2) return;
    for (const [name, series] of first) {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button"; button.setAttribute("aria-pressed", "true");
      button.append(swatch(series), document.createTextNode(name));
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        for (const chart of own) {
          if (shown) chart.hidden.delete(name); else chart.hidden.add(name);
          chart.width = 0;
        }
        drawAll();
      });
      item.append(button); element.append(item);
    }
  }

  let printing = false;
  function drawAll() {
    if (!printing) for (const chart of charts) draw(chart, Math.floor(chart.element.clientWidth));
  }
  // Afterwards: a chart that is drawn changes the sizes that are observed.
  const observer = new ResizeObserver(() => setTimeout(drawAll));
  addEventListener("resize", drawAll);

  for (const box of document.querySelectorAll("[data-figure]")) {
    const figure = data.figures[Number(box.dataset.figure)], own = [];
    box.querySelectorAll(".chart").forEach((element, number) => {
      const chart = { element, figure, panel: figure.panels[number], instance: null, width: 0, hidden: new Set() };
      own.push(chart); charts.push(chart); observer.observe(element);
    });
    legend(figure, box.querySelector(".legend"), own);
  }

  drawAll();

  // On paper, charts have the width of their place on a page; what is folded is left out.
  addEventListener("beforeprint", () => {
    printing = true;
    for (const chart of charts) {
      if (chart.element.closest("details:not([open])")) continue;
      const panels = chart.figure.panels.length;
      draw(chart, panels > 3 ? 165 : panels > 1 ? 225 : 660);
    }
  });
  addEventListener("afterprint", () => {
    printing = false;
    drawAll();
  });
})();
