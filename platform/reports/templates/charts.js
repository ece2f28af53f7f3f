/* Draws the charts of a report: each `figure.chart` holds its numbers as JSON (charts/chart.py). */
"use strict";
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)}M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(4)}k`;
    return `${+value.toPrecision(4)}`;
  };
  const ticks = (_plot, values) => values.map(short);

  const FORMS = {
    line: { width: 2, points: { show: false }, spanGaps: true },
    dashed: { width: 2, dash: [5, 3], points: { show: false }, spanGaps: true },
    dots: { paths: () => null, points: { show: true, size: 3, width: 0 } },
    points: { width: 1.5, points: { show: true, size: 7 }, spanGaps: true },
    level: { width: 1.2, dash: [6, 4], points: { show: false } },
    bars: { paths: uPlot.paths.bars({ size: [0.9, 60] }), points: { show: false } },
    band: { width: 0, points: { show: false }, spanGaps: true },
  };

  const line = (series) => ({
    ...FORMS[series.form],
    label: series.name,
    show: series.shown,
    value: (_plot, value, _at, index) => {
      const error = series.errors && index !== null ? series.errors[index] : null;
      return short(value) + (error ? ` ± ${short(error)}` : "");
    },
    stroke: () => css(`--${series.colour}`),
    fill: series.form === "bars" ? () => css(`--${series.colour}`) : undefined,
  });

  /* Two standard errors up and down from each value that has one. */
  const errorBars = (spec) => (plot) => {
    spec.series.forEach((series, place) => {
      if (!series.errors || !plot.series[place + 1].show) return;
      const pen = plot.ctx;
      pen.save();
      const { left, top, width, height } = plot.bbox;
      pen.beginPath();
      pen.rect(left, top, width, height);
      pen.clip();
      pen.setLineDash([]); // uPlot leaves that of the series it drew last
      pen.strokeStyle = css(`--${series.colour}`);
      pen.lineWidth = uPlot.pxRatio;
      pen.beginPath();
      series.errors.forEach((error, index) => {
        if (!error) return;
        const across = plot.valToPos(spec.at[index], "x", true);
        const [low, high] = [-2, 2].map((k) => series.values[index] + k * error);
        pen.moveTo(across, plot.valToPos(low, "y", true));
        pen.lineTo(across, plot.valToPos(high, "y", true));
      });
      pen.stroke();
      pen.restore();
    });
  };

  /* The edges of a band follow the series before them. */
  const withBands = (spec) => (plot, place, change) => {
    if (place === null || change.show === undefined) return;
    for (let next = place; spec.series[next] && spec.series[next].form === "band"; next++) {
      if (plot.series[next + 1].show !== change.show) plot.setSeries(next + 1, { show: change.show });
    }
  };

  /* Half a bar beyond the first and the last. */
  const around = (at) => (_plot, low, high) => {
    const half = at.length > 1 ? 0.6 * (at[1] - at[0]) : 1;
    return [low - half, high + half];
  };

  const axis = (label) => ({
    label,
    labelSize: 22,
    values: ticks,
    stroke: () => css("--soft"),
    grid: { stroke: () => css("--line"), width: 1 },
    ticks: { stroke: () => css("--line"), width: 1 },
  });

  const draw = (figure) => {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".plot");
    const values = spec.series.map((each) => each.values || spec.at.map(() => each.level));
    const bands = spec.bands.map(([high, low, colour]) => ({
      series: [high + 1, low + 1],
      fill: () => `${css(`--${colour}`)}30`,
    }));
    const plot = new uPlot(
      {
        width: place.clientWidth,
        height: spec.height,
        scales: { x: { time: false, range: spec.series[0].form === "bars" ? around(spec.at) : undefined } },
        cursor: { drag: { x: true, y: true, uni: 40 }, focus: { prox: 30 } },
        focus: { alpha: 0.35 },
        axes: [axis(spec.across), { ...axis(spec.up), size: 58 }],
        series: [{ label: spec.across, value: (_plot, value) => short(value) }, ...spec.series.map(line)],
        bands,
        hooks: { draw: [errorBars(spec)], setSeries: [withBands(spec)] },
      },
      [spec.at, ...values],
      place,
    );
    const named = [...plot.root.querySelectorAll(".u-series")];
    spec.series.forEach((each, index) => {
      if (each.form === "band") named[index + 1].style.display = "none";
    });
    const fit = () => {
      if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: spec.height });
    };
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    return plot;
  };

  /* A page that reloads itself keeps what its reader has hidden, and where it was zoomed. */
  const keepView = (plots) => {
    const key = `charts of ${location.pathname}`;
    const kept = JSON.parse(sessionStorage.getItem(key) || "{}");
    const zoomed = new Set();
    const named = plots.map((plot) => [plot.root.closest("figure").getAttribute("aria-label"), plot]);
    const show = (plot, { shown, scales }) => {
      plot.series.forEach((series, place) => {
        if (place && shown[series.label] === !series.show) plot.setSeries(place, { show: !series.show });
      });
      scales.forEach(([scale, min, max]) => plot.setScale(scale, { min, max }));
      if (scales.length) zoomed.add(plot);
    };
    const view = (plot) => ({
      shown: Object.fromEntries(plot.series.map((series) => [series.label, series.show])),
      scales: zoomed.has(plot) ? ["x", "y"].map((at) => [at, plot.scales[at].min, plot.scales[at].max]) : [],
    });
    named.forEach(([name, plot]) => {
      plot.hooks.setSelect = [() => zoomed.add(plot)];
      plot.over.addEventListener("dblclick", () => zoomed.delete(plot));
      if (kept[name]) show(plot, kept[name]);
    });
    addEventListener("pagehide", () => {
      const views = Object.fromEntries(named.map(([name, plot]) => [name, view(plot)]));
      sessionStorage.setItem(key, JSON.stringify(views));
    });
  };

  const plots = [...document.querySelectorAll("figure.chart")].map(draw);
  if (document.querySelector('meta[http-equiv="refresh"]')) keepView(plots);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plots.forEach((plot) => plot.redraw(false, true));
  });
})();
