/** Processor time of a raw workerd for each of many equal requests. */
import { navigation } from '../../test/support/browse.ts';
import type { RawWorker } from '../../test/support/raw-workerd.ts';
import { requestText, sendLoad } from '../measure/load.ts';
import { processorMs } from '../measure/processor-time.ts';

const CONNECTIONS = 16;

export interface Round {
  microsecondsPerRequest: number;
  requestsPerSecond: number;
}

/** `headers` may replace `host`. Every response must be a 200. */
export function load(worker: RawWorker, headers: Record<string, string>, durationMs: number): Round {
  const url = new URL(worker.url);
  const repeated = requestText('GET', '/page?from=bench', { host: url.host, ...navigation, ...headers });
  const usedMs = processorMs([worker.pid]);
  const sent = sendLoad(url, { connections: CONNECTIONS, requests: { repeated, durationMs }, expected: '' });
  const microseconds = (processorMs([worker.pid]) - usedMs) * 1000;
  if (sent.unexpected > 0) throw new Error(`${sent.unexpected} requests did not get a 200`);
  return { microsecondsPerRequest: microseconds / sent.expected, requestsPerSecond: sent.expected / sent.seconds };
}
