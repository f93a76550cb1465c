/**
 * How somebody came to the console: with a one-time link, or back from an identity provider. Both are in the fragment of
 * the address, which no server sees. It is taken off at once, so that no history and no bookmark keeps it.
 */
export type ConsoleArrival =
  | { kind: 'plain' }
  | { kind: 'link'; token: string }
  | { kind: 'issuer' }
  | { kind: 'refused'; key: string };

const ENTRY = /^#(link|from|refused)=([\w.-]+)$/;

// A link that is pasted into a tab of the console changes the fragment only, and loads nothing.
addEventListener('hashchange', () => {
  if (ENTRY.test(location.hash)) location.reload();
});

export function takeArrival(): ConsoleArrival {
  const [, name, value = ''] = ENTRY.exec(location.hash) ?? [];
  if (name === undefined) return { kind: 'plain' };
  history.replaceState(history.state, '', location.pathname + location.search);
  if (name === 'link') return { kind: 'link', token: value };
  return name === 'from' ? { kind: 'issuer' } : { kind: 'refused', key: value };
}
