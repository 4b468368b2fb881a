export interface XmlElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlElement[];
  text: string;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const TAG = /^<(?<close>\/?)(?<name>[A-Za-z][\w-]*)(?<attributes>(?:\s+[\w-]+="[^"<]*")*)\s*(?<empty>\/?)>/;

/** Reads XML without comments, processing instructions and CDATA; throws on anything that is not well-formed. */
export function readXml(text: string): XmlElement[] {
  const root: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  let rest = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  // The characters that XML 1.0 knows.
  if (!rest.isWellFormed() || /[^\t\n\r\u{20}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(rest))
    throw new Error("no XML character");
  while (rest !== "") {
    const tag = TAG.exec(rest);
    const inner = open.at(-1)!;
    if (tag === null) {
      const length = /^[^<]+/.exec(rest)?.[0].length ?? 0;
      if (length === 0 || rest.slice(0, length).includes("]]>")) throw new Error(`no XML: ${rest.slice(0, 40)}`);
      inner.text += unescape(rest.slice(0, length));
      rest = rest.slice(length);
      continue;
    }
    const { close, name = "", attributes = "", empty } = tag.groups ?? {};
    rest = rest.slice(tag[0].length);
    if (close === "/") {
      if (open.pop()?.name !== name) throw new Error(`${name} ends and did not begin`);
      continue;
    }
    const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
      key,
      unescape(value),
    ]);
    const element = { name, attributes: Object.fromEntries(pairs), children: [], text: "" };
    inner.children.push(element);
    if (empty !== "/") open.push(element);
  }
  if (open.length !== 1 || root.text.trim() !== "") throw new Error("something is open, or stands outside");
  return root.children;
}

function unescape(text: string): string {
  return text.replaceAll(/&([^;]{0,8};?)/g, (whole, name: string) => {
    const found = ENTITIES[name.slice(0, -1)];
    if (!name.endsWith(";") || found === undefined) throw new Error(`no entity: ${whole}`);
    return found;
  });
}
