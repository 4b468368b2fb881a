import type { OnnxNode } from "./onnx-model.ts";

/** A number, a list of numbers or a text that a node says, or what is meant where it says nothing. */
export function intOf({ attributes }: OnnxNode, name: string, otherwise: number): number {
  const found = attributes.get(name);
  return found?.kind === "int" ? found.value : otherwise;
}
export function intsOf({ attributes }: OnnxNode, name: string): readonly number[] | undefined {
  const found = attributes.get(name);
  return found?.kind === "ints" ? found.value : undefined;
}
export function floatOf({ attributes }: OnnxNode, name: string, otherwise: number): number {
  const found = attributes.get(name);
  return found?.kind === "float" ? found.value : otherwise;
}
export function textOf({ attributes }: OnnxNode, name: string, otherwise: string): string {
  const found = attributes.get(name);
  return found?.kind === "string" ? found.value : otherwise;
}
