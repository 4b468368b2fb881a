/** What one workgroup of an entry point takes. */
export interface Workgroup {
  readonly lanes: number;
  /** Of all workgroup variables in the file, whether or not this entry point uses them. */
  readonly memoryBytes: number;
}

type Numbers = ReadonlyMap<string, number>;

/**
 * Reads the size of a workgroup and its memory out of WGSL, with these values for its overrides. Null where they
 * depend on more than names, whole numbers and + - * / %.
 */
export function readWorkgroup(
  wgsl: string,
  entryPoint: string,
  overrides: Readonly<Record<string, number>>,
): Workgroup | null {
  const code = wgsl.replaceAll(/\/\/.*$|\/\*[^]*?\*\//gm, " ");
  const numbers = readNumbers(code, overrides);
  const stated = new RegExp(`@workgroup_size\\(([^{}]*?)\\)\\s*(?:@\\w+\\s*)*fn\\s+${entryPoint}\\b`).exec(code)?.[1];
  if (stated === undefined || !/^\w+$/.test(entryPoint)) return null;
  const sizes = splitArguments(stated).map((size) => evaluate(size, numbers));
  const variables = [...code.matchAll(/var<workgroup>\s*\w+\s*:\s*([^;]+);/g)];
  const bytes = variables.map(([, type = ""]) => sizeOf(type.trim(), { code, numbers, depth: 0 })?.bytes ?? null);
  if (sizes.includes(null) || bytes.includes(null)) return null;
  const lanes = sizes.reduce((product: number, size) => product * (size ?? 1), 1);
  return { lanes, memoryBytes: bytes.reduce((sum: number, size) => sum + (size ?? 0), 0) };
}

/** Overrides and constants that are whole numbers; a given value goes before a default. */
function readNumbers(code: string, overrides: Readonly<Record<string, number>>): Numbers {
  const numbers = new Map(Object.entries(overrides));
  for (const [, name = "", expression = ""] of code.matchAll(/\b(?:override|const)\s+(\w+)[^=;]*=\s*([^;]+);/g)) {
    const value = evaluate(expression, numbers);
    if (value !== null && !numbers.has(name)) numbers.set(name, value);
  }
  return numbers;
}

/** An expression of whole numbers, names, + - * / % and parentheses; null where it holds anything else. */
function evaluate(expression: string, numbers: Numbers): number | null {
  const tokens = expression.match(/\d+[ui]?|\w+|[-+*/%()]|\S/g) ?? [];
  let at = 0;
  const primary = (): number => {
    const token = tokens[at++] ?? "";
    if (token === "(") {
      const value = sum();
      return tokens[at++] === ")" ? value : Number.NaN;
    }
    return /^\d+[ui]?$/.test(token) ? Number.parseInt(token, 10) : (numbers.get(token) ?? Number.NaN);
  };
  const product = (): number => {
    let value = primary();
    for (let sign = tokens[at]; sign === "*" || sign === "/" || sign === "%"; sign = tokens[at]) {
      at++;
      const right = primary();
      value = sign === "*" ? value * right : sign === "/" ? Math.trunc(value / right) : value % right;
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    for (let sign = tokens[at]; sign === "+" || sign === "-"; sign = tokens[at]) {
      at++;
      value = sign === "+" ? value + product() : value - product();
    }
    return value;
  };
  const value = sum();
  return at === tokens.length && Number.isInteger(value) ? value : null;
}

interface Layout {
  readonly bytes: number;
  readonly alignment: number;
}

const SCALARS: Readonly<Record<string, number>> = { f32: 4, u32: 4, i32: 4, bool: 4, f16: 2 };

interface Scope {
  readonly code: string;
  readonly numbers: Numbers;
  /** Of types inside of types: what is in a comment may contain itself. */
  readonly depth: number;
}
const MAX_DEPTH = 8;

/** Size and alignment of a type as WGSL lays it out ("Alignment and Size"); null for a type that is not known here. */
function sizeOf(type: string, outer: Scope): Layout | null {
  const scope = { ...outer, depth: outer.depth + 1 };
  if (scope.depth > MAX_DEPTH) return null;
  const scalar = SCALARS[type];
  if (scalar !== undefined) return { bytes: scalar, alignment: scalar };
  const [, generic = "", inside = ""] = /^(\w+)\s*<(.*)>$/s.exec(type) ?? [];
  const [element = "", count = ""] = splitArguments(inside);
  if (generic === "atomic") return sizeOf(element, scope);
  const width = /^vec([234])$/.exec(generic)?.[1];
  if (width !== undefined) {
    const part = sizeOf(element, scope);
    return part && { bytes: Number(width) * part.bytes, alignment: (width === "2" ? 2 : 4) * part.bytes };
  }
  if (generic === "array") {
    const part = sizeOf(element, scope);
    const length = evaluate(count, scope.numbers);
    if (part === null || length === null) return null;
    return { bytes: length * roundUp(part.bytes, part.alignment), alignment: part.alignment };
  }
  if (!/^\w+$/.test(type)) return null;
  const members = new RegExp(`struct\\s+${type}\\s*{([^}]*)}`).exec(scope.code)?.[1];
  return members === undefined ? null : sizeOfStruct(members, scope);
}

function sizeOfStruct(members: string, scope: Scope): Layout | null {
  let bytes = 0;
  let alignment = 1;
  for (const member of splitArguments(members)) {
    const layout = sizeOf(member.slice(member.indexOf(":") + 1).trim(), scope);
    if (layout === null) return null;
    bytes = roundUp(bytes, layout.alignment) + layout.bytes;
    alignment = Math.max(alignment, layout.alignment);
  }
  return { bytes: roundUp(bytes, alignment), alignment };
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

/** Splits at commas outside of brackets. */
function splitArguments(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if ("<(".includes(character)) depth++;
    if (">)".includes(character)) depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
