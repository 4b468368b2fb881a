import type { Fingerprint } from "./hardware.ts";

/** A fingerprint as text: equal ones have equal text, whatever the order of their fields. */
export function fingerprintText(fingerprint: Fingerprint): string {
  const { adapter, driver, dawn, toggles, ort, cpu } = fingerprint;
  return JSON.stringify([adapter, driver, dawn, toggles, ort, cpu]);
}
