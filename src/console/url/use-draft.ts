/** What is typed into fields whose values are in the address once they are submitted. */
import { useState } from 'preact/hooks';
import { useParams } from './params.ts';

export interface Draft {
  textOf: (name: string) => string;
  write: (name: string, text: string) => void;
  /** For the address: the parameters as they were typed. */
  typed: () => Record<string, string | null>;
}

export function useDraft(names: readonly string[]): Draft {
  const [params] = useParams();
  // The address changes by the back button as well. What was typed at another address is no longer shown. An effect would
  // forget it too late, and with it what is typed into the next field meanwhile.
  const address = JSON.stringify(params);
  const [written, setWritten] = useState({ address, draft: params });
  const draftIn = (state: typeof written) => (state.address === address ? state.draft : params);
  const draft = draftIn(written);
  return {
    textOf: (name) => draft[name] ?? '',
    write: (name, text) => setWritten((former) => ({ address, draft: { ...draftIn(former), [name]: text } })),
    typed: () => Object.fromEntries(names.map((name) => [name, draft[name]?.trim() ?? null])),
  };
}
