import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureBuilt } from "../../src/local/build.ts";
import { type FuzzArguments, type FuzzWish, parseFuzzArguments } from "./arguments.ts";
import { CODEC_TARGETS } from "./codecs/codec-targets.ts";
import { fuzzCodecs } from "./codecs/fuzz-codecs.ts";
import { fuzzHttp } from "./http/fuzz-http.ts";
import { fuzzWgsl } from "./wgsl/fuzz-wgsl.ts";
import { type FuzzOutcome, hasFindings, renderOutcome } from "./render-outcome.ts";

const ROOT = join(import.meta.dirname, "../..");
const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the requested fuzzers and returns the exit code: 2 for a wrong command line, 1 where something was found. */
async function main(wish: FuzzArguments): Promise<number> {
  if (wish.kind === "mistake") {
    say(`millrace fuzz: ${wish.sentence}`);
    return 2;
  }
  const outcome = await fuzz(wish);
  const json = JSON.stringify(outcome, null, 2);
  process.stdout.write(`${wish.json ? json : renderOutcome(outcome)}\n`);
  if (wish.out !== null) await writeFile(wish.out, `${json}\n`);
  return hasFindings(outcome) ? 1 : 0;
}

async function fuzz({ http, codec, wgsl, seed, only }: FuzzWish): Promise<FuzzOutcome> {
  const codecs = codec === 0 ? null : await fuzzCodecs(codec, { seed, only, say });
  const programs = wgsl === 0 ? null : await fuzzWgsl(wgsl, seed, say);
  if (http > 0) await ensureBuilt(ROOT, say);
  return { seed, codecs, wgsl: programs, http: http === 0 ? null : await fuzzHttp(http, seed, say) };
}

process.exit(await main(parseFuzzArguments(process.argv.slice(2), [...CODEC_TARGETS.keys()])));
