import { useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { saveFile } from "../save-file.ts";

interface DownloadButtonProps {
  readonly client: Client;
  readonly endpoint: Endpoint;
  readonly id: string;
  /** What the file is called on the reader's disk. */
  readonly fileName: string;
  readonly children: string;
}

/** Saves what an endpoint answers as a file: a link could not carry the key. */
export function DownloadButton({ client, endpoint, id, fileName, children }: DownloadButtonProps) {
  const [failure, setFailure] = useState<string | null>(null);
  const save = async () => {
    setFailure(null);
    try {
      const response = await client.send(endpoint, { params: { id } });
      saveFile(await response.blob(), fileName);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        {children}
      </button>
      {failure !== null && <span role="alert">{`It could not be read: ${failure}`}</span>}
    </>
  );
}
