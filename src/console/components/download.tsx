/** Fetches a file of the API as it streams: says how much has come, can be stopped, and saves what is whole only. */
import { useRef, useState } from 'preact/hooks';
import { sendRaw, type Sent } from '../api/call.ts';
import { compact } from '../format/numbers.ts';
import { Button } from './button.tsx';
import { sentenceOf } from './page.tsx';
import { toast } from './toast.tsx';

export interface DownloadProps {
  label: string;
  /** The call that answers with the file. */
  sent: Sent;
  fileName: string;
}

export function Download({ label, sent, fileName }: DownloadProps) {
  const [bytes, setBytes] = useState<number | null>(null);
  const running = useRef<AbortController | null>(null);
  const start = async (): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    setBytes(0);
    try {
      const answer = await sendRaw(sent, controller.signal);
      if (!answer.ok) {
        toast(sentenceOf(answer.error), { tone: 'failed' });
        return;
      }
      saveFile(await collected(answer.value, setBytes), fileName);
    } catch {
      toast(controller.signal.aborted ? 'Stopped. Nothing was saved.' : 'The connection broke. Nothing was saved.', {
        tone: 'failed',
      });
    } finally {
      setBytes(null);
    }
  };
  return bytes === null ? (
    <Button onClick={() => void start()}>{label}</Button>
  ) : (
    <Button onClick={() => running.current?.abort()}>Stop ({compact(bytes)}B)</Button>
  );
}

async function collected(response: Response, onBytes: (bytes: number) => void): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    parts.push(part.value);
    bytes += part.value.length;
    onBytes(bytes);
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' });
}

/** The browser has begun to read the address by then. */
const REVOKE_AFTER_MS = 10_000;

export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}
