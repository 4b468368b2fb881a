import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDERS = ["docs", "kernels/environments", "models", "test/contract/releases"];

async function listDocuments(): Promise<string[]> {
  const inRoot = (await readdir(ROOT)).filter((file) => file.endsWith(".md"));
  const below = await Promise.all(
    FOLDERS.map(async (folder) => {
      const files = await readdir(join(ROOT, folder), { recursive: true });
      return files.filter((file) => file.endsWith(".md")).map((file) => join(folder, file));
    }),
  );
  return [...inRoot, "bench/README.md", ...below.flat()];
}

/** Anchors of a document as GitHub makes them from headings, and those that it sets by itself. */
function listAnchors(text: string): Set<string> {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#{1,6} (.*)$/gm);
  const slugs = [...headings].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...slugs, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id)]);
}

it("leads every relative link of every document to a file, and to a heading in it", async () => {
  const documents = await listDocuments();
  const texts = new Map(
    await Promise.all(
      documents.map(async (file) => [resolve(ROOT, file), await readFile(join(ROOT, file), "utf8")] as const),
    ),
  );
  expect(texts.size).toBeGreaterThan(80);
  const broken = [...texts].flatMap(([path, text]) =>
    [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : resolve(dirname(path), file);
      const there = texts.get(target);
      const isThere =
        existsSync(target) && (anchor === undefined || there === undefined || listAnchors(there).has(anchor));
      return isThere ? [] : [`${relative(ROOT, path)}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
