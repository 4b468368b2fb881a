import type { Plugin } from "vite";

const QUOTED = /url\((["'])data:image\/([a-z]+)[^,]*?(;base64)?,((?:\\.|(?!\1)[^\\])*)\1\)/g;
const BARE = /url\(()data:image\/([a-z]+)[^,]*?(;base64)?,([^)"']*)\)/g;

/**
 * Turns `url(data:image/…)` in stylesheets into files of their own: images from `data:` are not of
 * the page's origin, so a policy of `default-src 'self'` refuses them.
 */
export function emitDataImages(): Plugin {
  return {
    name: "emit-data-images",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".css")) continue;
        const emit = (_match: string, _quote: string, kind: string, base64: string | undefined, data: string) => {
          const source = base64 === undefined ? readText(data) : readBase64(data);
          const handle = this.emitFile({ type: "asset", name: `image.${kind}`, source });
          return `url("./${this.getFileName(handle).split("/").at(-1)}")`;
        };
        file.source = String(file.source).replaceAll(QUOTED, emit).replaceAll(BARE, emit);
      }
    },
  };
}

function readText(data: string): string {
  const unescaped = data.replaceAll(/\\(.)/g, "$1");
  return unescaped.includes("<") ? unescaped : decodeURIComponent(unescaped);
}

function readBase64(data: string): Uint8Array {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}
