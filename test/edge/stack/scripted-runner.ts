import { expect } from "vitest";
import { type Lease, LINK_SUBPROTOCOL } from "../../../src/protocol/link.ts";
import { fetchEdge, type RegisteredRunner } from "./edge-client.ts";
import { RunnerScript } from "./runner-script.ts";
import { capabilities } from "./samples.ts";

/** A scripted runner on a socket to the Worker under test. */
export class ScriptedRunner extends RunnerScript {
  static async connect({ credential }: RegisteredRunner): Promise<ScriptedRunner> {
    const response = await fetchEdge("GET", "/v1/link", {
      key: credential,
      headers: { upgrade: "websocket", "sec-websocket-protocol": LINK_SUBPROTOCOL },
    });
    expect(response.status).toBe(101);
    expect(response.headers.get("sec-websocket-protocol")).toBe(LINK_SUBPROTOCOL);
    const socket = response.webSocket as WebSocket;
    socket.binaryType = "arraybuffer";
    const scripted = new ScriptedRunner(socket);
    socket.accept();
    return scripted;
  }

  /** Connects and says hello; returns once the edge has welcomed it. */
  static async online(runner: RegisteredRunner, running: Lease[] = []): Promise<ScriptedRunner> {
    const scripted = await ScriptedRunner.connect(runner);
    scripted.send({ type: "hello", capabilities, running });
    await scripted.next("welcome");
    return scripted;
  }
}
