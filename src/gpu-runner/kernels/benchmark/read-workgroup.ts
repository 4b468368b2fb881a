/** Resources of one workgroup of an entry point. */
export interface Workgroup {
  /** Lanes along x, y and z. */
  readonly size: readonly [number, number, number];
  readonly lanes: number;
  /** Memory of all workgroup variables in the file, whether or not this entry point uses them. */
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
  const code = stripComments(wgsl);
  const numbers = readNumbers(code, overrides);
  const stated = new RegExp(`@workgroup_size\\(([^{}]*?)\\)\\s*(?:@\\w+\\s*)*fn\\s+${entryPoint}\\b`).exec(code)?.[1];
  if (stated === undefined || !/^\w+$/.test(entryPoint)) return null;
  const sizes = splitArguments(stated).map((size) => evaluate(size, numbers));
  const variables = [...code.matchAll(/var<workgroup>\s*\w+\s*:\s*([^;]+);/g)];
  const scope = {
    structs: findStructs(code),
    aliases: findAliases(code),
    layouts: new Map<string, Layout | null>(),
    numbers,
    depth: 0,
  };
  const bytes = variables.map(([, type = ""]) => sizeOf(type.trim(), scope)?.bytes ?? null);
  if (sizes.includes(null) || bytes.includes(null)) return null;
  const [x, y, z] = [sizes[0] ?? 1, sizes[1] ?? 1, sizes[2] ?? 1];
  return { size: [x, y, z], lanes: x * y * z, memoryBytes: bytes.reduce((sum: number, size) => sum + (size ?? 0), 0) };
}

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

/** WGSL with a space for every comment; block comments may be nested. */
function stripComments(wgsl: string): string {
  let code = "";
  let blocks = 0;
  let isInLine = false;
  for (let at = 0; at < wgsl.length; at++) {
    const character = wgsl[at] ?? "";
    const pair = wgsl.slice(at, at + 2);
    if (isInLine) isInLine = !LINE_BREAK.test(character);
    else if (pair === "/*" || (pair === "*/" && blocks > 0)) {
      blocks += pair === "/*" ? 1 : -1;
      // Skips the second character of the mark.
      at++;
      code += " ";
    } else if (blocks === 0 && pair === "//") {
      isInLine = true;
      code += " ";
    } else if (blocks === 0) code += character;
  }
  return code;
}

/** Integer overrides and constants; a given value replaces the default. */
function readNumbers(code: string, overrides: Readonly<Record<string, number>>): Numbers {
  const numbers = new Map(Object.entries(overrides));
  for (const [, name = "", expression = ""] of code.matchAll(/\b(?:override|const)\s+(\w+)[^=;]*=\s*([^;]+);/g)) {
    const value = evaluate(expression, numbers);
    if (value !== null && !numbers.has(name)) numbers.set(name, value);
  }
  return numbers;
}

/** Value of an expression of integers, names, + - * / % and parentheses; null where it holds anything else. */
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
  /** Members of each structure, as text. */
  readonly structs: ReadonlyMap<string, string>;
  /** Types that have another name. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Structures with a known layout: each is computed once, however many have it as a member. */
  readonly layouts: Map<string, Layout | null>;
  readonly numbers: Numbers;
  /** Nesting depth of types. */
  readonly depth: number;
}
const MAX_DEPTH = 8;

function findStructs(code: string): Map<string, string> {
  return new Map(
    [...code.matchAll(/\bstruct\s+(\w+)\s*{([^}]*)}/g)].map(([, name = "", members = ""]) => [name, members]),
  );
}

function findAliases(code: string): Map<string, string> {
  return new Map(
    [...code.matchAll(/\balias\s+(\w+)\s*=\s*([^;]+);/g)].map(([, name = "", type = ""]) => [name, type.trim()]),
  );
}

/**
 * Size and alignment of a type; null for an unknown type.
 * Source: WGSL, "Alignment and Size".
 */
function sizeOf(type: string, outer: Scope): Layout | null {
  const scope = { ...outer, depth: outer.depth + 1 };
  if (scope.depth > MAX_DEPTH) return null;
  const alias = scope.aliases.get(type);
  if (alias !== undefined) return sizeOf(alias, scope);
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
  const members = scope.structs.get(type);
  if (members === undefined || scope.layouts.has(type)) return scope.layouts.get(type) ?? null;
  const layout = sizeOfStruct(members, scope);
  scope.layouts.set(type, layout);
  return layout;
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

/** Splits at commas outside brackets. */
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
