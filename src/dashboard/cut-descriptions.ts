/** A node of the tree that a parser gives, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** What the document of the API says in words. */
const WORDS = new Set(["summary", "description"]);

/** The code without calls of `.openapi(…)` and without the words of endpoints; `tree` is what a parser makes of it. */
export function cutDescriptions(code: string, tree: object): string {
  let left = code;
  // From the end on, so that the places before stay what they are.
  for (const [start, end] of findCuts(tree as Node).toSorted((a, b) => b[0] - a[0]))
    left = left.slice(0, start) + left.slice(end);
  return left;
}

/** Where to cut: outermost places first found, none within another. */
function findCuts(node: Node): (readonly [number, number])[] {
  if (node.type === "CallExpression") {
    const callee = node.callee as Node;
    // What the call is of may have such calls within itself.
    if (isNamed(callee.property, "openapi"))
      return [...findCuts(callee.object as Node), [(callee.object as Node).end, node.end]];
    if (isNamed(callee, "defineEndpoint")) return cutWords((node.arguments as Node[])[0]!);
  }
  return childrenOf(node).flatMap(findCuts);
}

/** The words among the properties of an endpoint; each goes with what is up to the next one. */
function cutWords(endpoint: Node): (readonly [number, number])[] {
  const properties = endpoint.properties as Node[];
  return properties.flatMap((property, place) => {
    const isWord = [...WORDS].some((word) => isNamed(property.key, word));
    if (!isWord) return findCuts(property);
    return [[property.start, properties[place + 1]?.start ?? endpoint.end - 1] as const];
  });
}

function isNamed(value: unknown, name: string): boolean {
  return isNode(value) && value.type === "Identifier" && value.name === name;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
