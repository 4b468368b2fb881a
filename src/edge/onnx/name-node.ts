import type { OnnxNode } from "../../onnx/onnx-model.ts";

const LENGTH = 64;

/** As messages call a node: by its operator, and its name where it has one. */
export function nameNode({ operator, name }: Pick<OnnxNode, "operator" | "name">): string {
  return name === "" ? shorten(operator) : `${shorten(operator)} (${shorten(name)})`;
}

/** A name out of a file, no longer than a message has room for. */
export function shorten(name: string): string {
  return name.length > LENGTH ? `${name.slice(0, LENGTH)}…` : name;
}
