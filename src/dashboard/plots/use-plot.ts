import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useColourScheme } from "../ui/hooks/use-screen.ts";

/**
 * Draws with uPlot into an element, at the size that the page gives it and again in other colours. The
 * plot is made anew with another `createOptions`, which must be memoised; other `data` is drawn in place.
 */
export function usePlot(
  createOptions: (element: HTMLElement) => uPlot.Options,
  data: uPlot.AlignedData,
): RefObject<HTMLDivElement | null> {
  const scheme = useColourScheme();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const drawn = new uPlot(createOptions(element), data, element);
    plot.current = drawn;
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [createOptions, scheme]);

  useEffect(() => plot.current?.setData(data), [data]);

  return frame;
}
