import { useEffect, useState } from "preact/hooks";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Which colours the reader prefers, followed as it changes. */
export function useColourScheme(): "light" | "dark" {
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const update = () => setDark(dark.matches);
    dark.addEventListener("change", update);
    return () => dark.removeEventListener("change", update);
  }, []);
  return isDark ? "dark" : "light";
}
