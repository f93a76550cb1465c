/** A client that the recorder runs, and the user agents that several clients claim. */
import type { RecordedKind } from './recording.ts';

export interface RecordedClient {
  kind: RecordedKind;
  variant: string;
  /** Sessions of one network count together for cookie cycling. */
  network: string;
  /** Visits the recorder's pages at `url`. */
  drive(url: string): Promise<void>;
}

export const WINDOWS = 'Windows NT 10.0; Win64; x64';
export const MAC = 'Macintosh; Intel Mac OS X 10_15_7';

export function chromeOf(system: string, major: number): string {
  return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
}
