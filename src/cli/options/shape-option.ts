import { InvalidArgumentError } from "commander";

/** Reads sizes by name, such as `m=256,n=256`; given again, later ones count. */
export function shapeOption(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const sizes = text.split(",").map((part): [string, number] => {
    const [, name = "", size = ""] = /^\s*([A-Za-z]\w*)=(\d+)\s*$/.exec(part) ?? [];
    if (name === "" || Number(size) < 1 || !Number.isSafeInteger(Number(size))) {
      throw new InvalidArgumentError("must be sizes such as n=1000000,m=64.");
    }
    return [name, Number(size)];
  });
  return { ...before, ...Object.fromEntries(sizes) };
}
