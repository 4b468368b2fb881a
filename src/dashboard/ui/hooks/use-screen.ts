import { useEffect, useState } from "preact/hooks";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The reader's preferred colour scheme, updated when it changes. */
export function useColourScheme(): "light" | "dark" {
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const update = () => setDark(dark.matches);
    dark.addEventListener("change", update);
    // It may have changed between the first drawing and this effect.
    update();
    return () => dark.removeEventListener("change", update);
  }, []);
  return isDark ? "dark" : "light";
}

/** The width of an element in pixels, followed as it changes; null until it is known. */
export function useWidth(frame: { readonly current: HTMLElement | null }): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
