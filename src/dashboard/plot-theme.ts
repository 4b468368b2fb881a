import type uPlot from "uplot";

/** The page's own colours and type, for what is drawn on a canvas. */
export interface PlotTheme {
  readonly colour: (name: string) => string;
  readonly font: string;
  /** What every axis has. */
  readonly axis: uPlot.Axis;
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
  return { colour, font, axis };
}
