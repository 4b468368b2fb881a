import type uPlot from "uplot";

/** The page's own colours and type, for what is drawn on a canvas. */
export interface PlotTheme {
  readonly colour: (name: string) => string;
  readonly font: string;
  /** Settings of every axis. */
  readonly axis: uPlot.Axis;
  /** An axis with a name, that takes up so much room. */
  readonly namedAxis: (label: string, sizePx: number) => uPlot.Axis;
  /** As large as its element; our own legend and cursor replace uPlot's. */
  readonly frame: Pick<uPlot.Options, "width" | "height" | "legend" | "cursor">;
}

export function readPlotTheme(element: HTMLElement): PlotTheme {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `12px ${style.fontFamily}`;
  const axis: uPlot.Axis = {
    font,
    stroke: colour("muted"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { stroke: colour("line"), width: 1, size: 4 },
  };
  return {
    colour,
    font,
    axis,
    namedAxis: (label, size) => ({ ...axis, label, labelFont: font, labelSize: 18, size }),
    frame: {
      width: element.clientWidth,
      height: element.clientHeight,
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false } },
    },
  };
}
