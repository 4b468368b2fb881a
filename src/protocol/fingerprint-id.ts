import type { Fingerprint } from "./hardware.ts";
import { createContentId } from "./id.ts";

/** A fingerprint as text: equal ones have equal text, whatever the order of their fields. */
export function fingerprintText(fingerprint: Fingerprint): string {
  const { adapter, driver, dawn, toggles, ort, cpu } = fingerprint;
  return JSON.stringify([adapter, driver, dawn, toggles, ort, cpu]);
}

/** Id of a fingerprint: what a device is called where several runners have the same. */
export function fingerprintIdOf(fingerprint: Fingerprint): Promise<string> {
  return createContentId("fingerprint", fingerprintText(fingerprint));
}
