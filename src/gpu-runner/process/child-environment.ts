/**
 * Freed memory is filled with these bits, and new memory with their complement, by glibc (mallopt(3), M_PERTURB): what
 * ONNX Runtime, Node or a driver hands out holds nothing of who had it before. Other C libraries take no notice.
 */
const PERTURB_BYTE = "85";

/** What the edge's operator tells the runner alone: tokens, headers of a collector. */
const OWN = /^(MILLRACE|OTEL)_/;

/** The environment of a device's process: the runner's without what is secret there, and what its driver needs. */
export function childEnvironment(own: NodeJS.ProcessEnv, added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => !OWN.test(name));
  return { ...Object.fromEntries(inherited), MALLOC_PERTURB_: PERTURB_BYTE, ...added };
}
