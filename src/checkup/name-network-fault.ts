import { isIP } from "node:net";
import { connect } from "node:tls";
import type { Fault } from "./fault.ts";
import { askProxy, findProxy, type Proxy } from "./proxy.ts";

/** Where a request was going. */
interface Way {
  readonly url: URL;
  /** Host with port. */
  readonly to: string;
  readonly proxy: Proxy | null;
}

/** Fields of the errors of Node's sockets and TLS. */
type NetworkError = Error & {
  readonly code?: unknown;
  readonly hostname?: string;
  readonly cert?: { readonly subjectaltname?: string };
};

/** Words for an error's code; `where` is the edge or the proxy that did not answer. */
type Words = (way: Way, error: NetworkError, where: string) => Fault;

const unresolved: Words = ({ proxy, url }, { hostname = url.hostname }) => ({
  cause: proxy?.url.hostname === hostname ? "proxy-name" : "name",
  found: `The name ${hostname} does not resolve`,
  advice:
    proxy?.url.hostname === hostname
      ? `Correct ${proxy.variable}, or unset it.`
      : `Check its spelling, and this machine's DNS: \`getent hosts ${hostname}\`.`,
});
const noRoute: Words = (_way, { message }, where) => ({
  cause: "route",
  found: `There is no way to ${where} (${message})`,
  advice: "Look at this machine's network: cable, Wi-Fi, VPN, firewall.",
});
const silent: Words = ({ proxy }, _error, where) => ({
  cause: proxy === null ? "silence" : "proxy-silence",
  found: `${where} does not answer in time`,
  advice:
    proxy === null
      ? "Let the firewall pass outgoing TCP to it; if only a proxy may leave, name that by HTTPS_PROXY."
      : `Correct ${proxy.variable}, or let the firewall pass TCP to it.`,
});
const dropped: Words = (_way, _error, where) => ({
  cause: "dropped",
  found: `${where} ends the connection before it answers`,
  advice: "Look for a firewall or proxy between, and whether that port speaks http or https.",
});
const refused: Words = ({ proxy }, _error, where) => ({
  cause: proxy === null ? "edge-down" : "proxy-down",
  found: `Nothing listens at ${where} (ECONNREFUSED)`,
  advice:
    proxy === null
      ? "Start the edge there (`millrace up`), or correct the address or port that is named by --edge."
      : `Start that proxy, correct ${proxy.variable}, or unset it; NO_PROXY lists hosts that need none.`,
});
const authority: Words = ({ to }) => ({
  cause: "tls-authority",
  found: `The certificate of ${to} is signed by an authority that is not trusted here`,
  advice:
    "A company's inspecting proxy does that: name its root certificate by NODE_EXTRA_CA_CERTS=<file.pem>, or set NODE_USE_SYSTEM_CA=1 if this system trusts it.",
});

const WORDS: Readonly<Record<string, Words>> = {
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  ENETDOWN: noRoute,
  ECONNREFUSED: refused,
  ETIMEDOUT: silent,
  TimeoutError: silent,
  UND_ERR_CONNECT_TIMEOUT: silent,
  UND_ERR_HEADERS_TIMEOUT: silent,
  ECONNRESET: dropped,
  EPIPE: dropped,
  UND_ERR_SOCKET: dropped,
  CERT_HAS_EXPIRED: ({ to }) => ({
    cause: "tls-expired",
    found: `The certificate of ${to} has expired`,
    advice: "Renew it there; if others find it valid, set this machine's clock.",
  }),
  CERT_NOT_YET_VALID: ({ to }) => ({
    cause: "tls-early",
    found: `The certificate of ${to} is not valid yet`,
    advice: "Set this machine's clock by NTP: `timedatectl set-ntp true`, or chrony.",
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: ({ to }) => ({
    cause: "tls-self-signed",
    found: `The certificate of ${to} is signed by itself`,
    advice: "If it is yours, name it by NODE_EXTRA_CA_CERTS=<file.pem>; better, get one from an authority.",
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: ({ to }, { cert }) => ({
    cause: "tls-host",
    found: `The certificate of ${to} is for another host (${cert?.subjectaltname ?? "it names none"})`,
    advice: "Name the edge by a host of its certificate with --edge, or get it one for this host.",
  }),
  SELF_SIGNED_CERT_IN_CHAIN: authority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: authority,
  UNABLE_TO_GET_ISSUER_CERT: authority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: authority,
  ERR_SSL_WRONG_VERSION_NUMBER: ({ to }) => ({
    cause: "tls-none",
    found: `What listens at ${to} speaks no TLS`,
    advice: "Name it by http:// with --edge, or correct the port.",
  }),
};

/** Names the reason why a request to a URL got no answer. */
export async function nameNetworkFault(
  error: unknown,
  url: URL,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Fault> {
  const proxy = findProxy(url, environment);
  const way = { url, to: `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`, proxy };
  const cause = causeOf(error);
  const code = codeOf(cause);
  const where = proxy === null ? way.to : `the proxy ${proxy.url.host} (${proxy.variable})`;
  const words = WORDS[code];
  if (words === authority && proxy === null) return nameAuthority(authority(way, cause, where), way);
  if (words !== undefined) return words(way, cause, where);
  const status = proxy === null ? null : await askProxy(proxy, way.to);
  if (proxy !== null && status !== null && status !== 200) return nameRefusal(way, proxy, status);
  return {
    cause: "unreachable",
    found: `${url.origin} cannot be reached: ${code || cause.message}`,
    advice: "Look at name service, proxy and firewall.",
  };
}

/** `fetch` and our client hide the error of the socket behind their own. */
function causeOf(error: unknown): NetworkError {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}

function codeOf({ code, name }: NetworkError): string {
  return typeof code === "string" ? code : name === "TimeoutError" ? name : "";
}

function nameRefusal({ to }: Way, { url, variable }: Proxy, status: number): Fault {
  if (status === 407) {
    return {
      cause: "proxy-login",
      found: `The proxy ${url.host} (${variable}) wants a name and a password (status 407)`,
      advice: `Write them into ${variable}=http://name:password@${url.host}, percent-encoded.`,
    };
  }
  return {
    cause: "proxy-refusal",
    found: `The proxy ${url.host} (${variable}) makes no tunnel to ${to} (status ${status})`,
    advice: `Have it allow CONNECT to ${to}, or list the host in NO_PROXY if it needs no proxy.`,
  };
}

const ISSUER_MS = 3_000;

/** Adds the authority's name: that of the company tells a person whose proxy it is. */
async function nameAuthority(fault: Fault, { url: { hostname, port } }: Way): Promise<Fault> {
  const issuer = await new Promise<string>((resolve) => {
    const options = { host: hostname, port: Number(port || 443), rejectUnauthorized: false, timeout: ISSUER_MS };
    const socket = connect({ ...options, ...(isIP(hostname) === 0 && { servername: hostname }) });
    const end = (name: string) => {
      resolve(name);
      socket.destroy();
    };
    socket.once("secureConnect", () => {
      const { O: organisation, CN: name } = socket.getPeerCertificate().issuer;
      end([organisation, name].flat().filter(Boolean).join(", "));
    });
    socket.once("error", () => end(""));
    socket.once("timeout", () => end(""));
  });
  return issuer === "" ? fault : { ...fault, found: `${fault.found}: ${issuer}` };
}
