/** What is typed into fields whose values are in the address once they are submitted. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { useParams } from './params.ts';

export interface Draft {
  textOf: (name: string) => string;
  write: (name: string, text: string) => void;
  /** For the address: the parameters as they were typed. */
  typed: () => Record<string, string | null>;
}

export function useDraft(names: readonly string[]): Draft {
  const [params] = useParams();
  const [draft, setDraft] = useState(params);
  // The address also changes by the back button. A layout effect runs before the next event of the visitor; another effect
  // would run a frame later, and put the values back over what is typed meanwhile.
  useLayoutEffect(() => setDraft(params), [JSON.stringify(params)]);
  return {
    textOf: (name) => draft[name] ?? '',
    write: (name, text) => setDraft((former) => ({ ...former, [name]: text })),
    typed: () => Object.fromEntries(names.map((name) => [name, draft[name]?.trim() ?? null])),
  };
}
