import { render } from "preact";
import { App } from "./app.tsx";

/** Chromium under LANG=C says "en-US@posix", at which Intl throws, and with it every view with a plot. */
function mendLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
  }
}

mendLanguage();
const root = document.getElementById("page");
if (root !== null) render(<App />, root);
